"""Questions, answers, who may answer them, and when an answer is good enough. Pure."""
