"""Tools that answer a question by themselves: routes with `answerer: tool/NAME` (specs/2)."""
