"""Who may write where: scope files in CODEOWNERS syntax (specs/1, US5, FR-017 and FR-018)."""

from app.scopes.rules import Flaw, Rule
from app.scopes.scopes import DEFAULT, Scopes, Verdict, check, ends, is_guarded, parse

__all__ = ["DEFAULT", "Flaw", "Rule", "Scopes", "Verdict", "check", "ends", "is_guarded", "parse"]
