"""A clock for queues and schedules that tests can stop and move.

    POST /_fermata/clock {"stop": true}      time stands still from now on
    POST /_fermata/clock {"passMs": 5000}    moves on by at most that much, and stops where the next
                                             message becomes visible or the next schedule fires
    POST /_fermata/clock {"stop": false}     real time again

Each answers {"nowMs", "leftMs"}: what is left of passMs when it stopped early. The contract suites
let hours pass in milliseconds with this, and see exactly when a message becomes visible.
"""

import json
import math
import time as real
from fractions import Fraction

from ministack import app
from ministack.services import eventbridge, scheduler, sqs

PATH = "/_fermata/clock"


class Clock:
    stopped_at_ms: int | None = None

    def now_ms(self) -> int:
        return int(real.time() * 1000) if self.stopped_at_ms is None else self.stopped_at_ms

    def stop(self, stop: bool) -> None:
        self.stopped_at_ms = self.now_ms() if stop else None

    def move(self, pass_ms: int) -> int:
        """Moves on, and says how much is left because something happens before."""
        now_ms = self.stopped_at_ms
        if now_ms is None:
            raise ValueError("the clock is not stopped")
        target_ms = min([now_ms + pass_ms, *(ms for ms in happenings_ms() if ms > now_ms)])
        self.stopped_at_ms = target_ms
        fire_schedules()
        return now_ms + pass_ms - target_ms


class SettableTime:
    """Stands for Python's time module in a service; `exact` where fractions do no harm."""

    def __init__(self, clock: Clock, exact: bool):
        self.clock = clock
        self.exact = exact

    def __getattr__(self, name):
        return getattr(real, name)

    def time(self):
        if self.clock.stopped_at_ms is None:
            return real.time()
        fraction = Fraction(self.clock.stopped_at_ms, 1000)
        return fraction if self.exact else rounded_down(fraction)


def rounded_down(fraction: Fraction) -> float:
    nearest = float(fraction)
    return nearest if nearest <= fraction else math.nextafter(nearest, 0)


def happenings_ms():
    """When messages become visible and schedules fire."""
    for queue in list(sqs._queues._data.values()):
        for message in list(queue["messages"]):
            yield math.ceil(Fraction(message["visible_at"]) * 1000)
    for schedule in list(scheduler._schedules._data.values()):
        at = scheduler._at_time_epoch(schedule.get("ScheduleExpression", ""))
        if at is not None:
            yield math.ceil(at * 1000)


clock = Clock()
fire_schedules = scheduler._tick_schedules


def tick_in_real_time() -> None:
    """The background tick: while the clock is stopped, only moving it fires schedules."""
    if clock.stopped_at_ms is None:
        fire_schedules()


def install() -> None:
    # A delay is added to the time of sending: with fractions the sum is what was meant.
    sqs.time = SettableTime(clock, exact=True)
    eventbridge.time = SettableTime(clock, exact=False)
    scheduler.time = SettableTime(clock, exact=False)
    scheduler._tick_schedules = tick_in_real_time
    emulator = app.app

    async def with_clock(scope, receive, send):
        if scope["type"] == "http" and scope["path"] == PATH:
            await answer(receive, send)
        else:
            await emulator(scope, receive, send)

    app.app = with_clock


async def answer(receive, send) -> None:
    try:
        status, said = 200, told(json.loads(await body_of(receive)))
    except (ValueError, KeyError, TypeError) as error:
        status, said = 400, {"error": str(error)}
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(said).encode()})


def told(asked: dict) -> dict:
    left_ms = 0
    if "stop" in asked:
        clock.stop(bool(asked["stop"]))
    if "passMs" in asked:
        left_ms = clock.move(int(asked["passMs"]))
    return {"nowMs": clock.now_ms(), "leftMs": left_ms}


async def body_of(receive) -> bytes:
    body = b""
    while True:
        part = await receive()
        body += part.get("body", b"")
        if not part.get("more_body"):
            return body
