"""Feature types, the pipeline and the documents it writes. Pure."""
