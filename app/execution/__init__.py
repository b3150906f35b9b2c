"""Tasks done on files: mirrors, worktrees, and the wall behind which nothing else is committed."""
