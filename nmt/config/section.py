"""The base of all sections of the configuration."""

from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

# Upper bounds far above anything useful, so that a typo is reported before memory runs out.
MOST = 1_000_000_000
WIDEST = 65_536
DEEPEST = 1000
BrokenRule = tuple[tuple[str, ...], str]  # the fields that the rule involves, and the message
# With this validation context, broken rules raise no error, so that all can be collected.
RULES_UNCHECKED = {"rules": "unchecked"}


class Section(BaseModel):
    """A section of the YAML. Unknown fields are refused; values are immutable after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _only_switches_are_boolean(cls, value: object, info: ValidationInfo) -> object:
        # YAML reads `no` (Norwegian) as false, and false would pass for the number 0.
        assert info.field_name
        kind = cls.model_fields[info.field_name].annotation
        if isinstance(value, bool) and kind is not bool and not hasattr(kind, "model_fields"):
            raise PydanticCustomError(
                "boolean", "Input should be text or a number; put no, yes, on and off in quotes"
            )
        return value

    def broken_rules(self) -> Iterator[BrokenRule]:
        """Yield the violated rules that involve several fields."""
        yield from ()

    @model_validator(mode="after")
    def _rules_hold(self, info: ValidationInfo) -> "Section":
        broken = [message for _, message in self.broken_rules()]
        if broken and info.context != RULES_UNCHECKED:
            raise PydanticCustomError("broken_rules", "{all}", {"all": "; ".join(broken)})
        return self
