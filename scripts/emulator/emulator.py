"""Runs MiniStack with the settings that it offers no variable for.

Started by start-emulator.ts. Each setting names what it is for; a version that no longer has it
fails here, at once, instead of being quietly slow.
"""

import os
import signal
import threading

from ministack import app
from ministack.core.lambda_runtime import Worker
from ministack.services import eventbridge, lambda_svc, scheduler

import policies
import settable_clock

# Both look for due schedules every ten seconds; a test waits for a schedule of a few seconds.
assert hasattr(scheduler, "_SCHEDULE_TICK_INTERVAL")
assert hasattr(eventbridge, "_SCHEDULER_TICK_INTERVAL")
scheduler._SCHEDULE_TICK_INTERVAL = 1
eventbridge._SCHEDULER_TICK_INTERVAL = 1

# Every call of a function that logs nothing waits 50 ms for its log: wait 3 ms instead.
# (for the first line, for the line after it, in all)
assert len(Worker._drain_stderr_bounded.__defaults__) == 3
Worker._drain_stderr_bounded.__defaults__ = (0.003, 0.003, 0.1)

# Every invocation under way is a Node process here. A crowd would start a hundred of one function,
# which then take the cores from each other: a queue wakes at most eight at once.
assert callable(lambda_svc._sqs_esm_concurrency)
concurrency_of = lambda_svc._sqs_esm_concurrency
lambda_svc._sqs_esm_concurrency = lambda *mapping: min(8, concurrency_of(*mapping))

policies.install()
settable_clock.install()


def end_with_parent() -> None:
    """Ends this process group when stdin closes: the process that started it is gone."""
    while os.read(0, 1024):
        pass
    os.killpg(os.getpid(), signal.SIGKILL)


if os.environ.get("END_WITH_PARENT") == "1":
    threading.Thread(target=end_with_parent, daemon=True).start()

app.main()
