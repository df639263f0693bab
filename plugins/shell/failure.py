"""What can go wrong: a sentence, and whether trying again could help."""


class Failure(Exception):
    def __init__(self, message, retry=False):
        super().__init__(message)
        self.message = message
        self.retry = retry
