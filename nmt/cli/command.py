"""The class of all commands."""

from collections import Counter

from typer.core import TyperCommand, TyperOption
from typer.models import Context


class Command(TyperCommand):
    """Refuses an option, or a field of `--set`, given twice although only one value would count."""

    def parse_args(  # type: ignore[override]  # Typer does not export its base class of contexts
        self, ctx: Context, args: list[str]
    ) -> list[str]:
        """Parse the arguments of the command, as Typer does."""
        if not ctx.resilient_parsing:  # as in completion
            values, _, given = self.make_parser(ctx).parse_args(list(args))
            for option, times in Counter(given).items():
                if not isinstance(option, TyperOption) or option.is_flag or option.count:
                    continue
                if times > 1 and not option.multiple:
                    name = max(option.opts, key=len)
                    ctx.fail(f"Option '{name}' is given {times} times, but takes one value.")
            fields = [each.partition("=")[0].strip() for each in values.get("set_") or ()]
            for field, times in Counter(fields).items():
                if times > 1:
                    ctx.fail(f"Field '{field}' is set {times} times, but takes one value.")
        return super().parse_args(ctx, args)
