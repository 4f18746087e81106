"""The one exception that is meant for the person at the keyboard."""


class UserError(Exception):
    """Something the user can mend: the command line prints it in one line and exits with code 2.

    The message names the cause and the remedy, without a trailing traceback.
    """
