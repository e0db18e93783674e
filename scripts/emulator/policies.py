"""What policies are held against, where the emulator sees it otherwise than AWS does."""

import json

from ministack import app
from ministack.core import iam_actions

ARN = "arn:aws:scheduler:{region}:{account}:schedule/{group}/{name}"


def install() -> None:
    count_loopback_as_tls()
    name_schedules_by_group()


def count_loopback_as_tls() -> None:
    """Queues and buckets refuse whoever does not come over TLS. Nothing leaves this machine, so
    calls over the loopback count as if they had, and the policies stay as they are on AWS."""
    pin_request_origin = app.pin_request_origin
    app.pin_request_origin = lambda source_ip, _secure: pin_request_origin(source_ip, True)


def name_schedules_by_group() -> None:
    """The emulator takes every schedule for one of the group `default`."""
    extract_resource_arn = iam_actions.extract_resource_arn

    def extract(service, method, path, headers, body, query_params, region, account_id):
        given = (service, method, path, headers, body, query_params, region, account_id)
        parts = [part for part in path.split("/") if part]
        if service != "scheduler" or parts[:1] != ["schedules"] or len(parts) < 2:
            return extract_resource_arn(*given)
        group = group_of(body, query_params)
        return ARN.format(region=region, account=account_id, group=group, name=parts[1])

    iam_actions.extract_resource_arn = extract


def group_of(body: bytes, query_params: dict) -> str:
    """In the body where a schedule is created, in the query where it is read or deleted."""
    asked = query_params.get("groupName")
    if isinstance(asked, list):
        asked = asked[0] if asked else None
    if asked is None and body:
        asked = json.loads(body).get("GroupName")
    return asked or "default"
