"""Each of the demo's channels sends what its name says: another encoding would be taken as well, and show nothing."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from collector.demo.channels import stock_channels
from tests.collector.receive.serving import listening
from tests.support.sink import sink


def test_each_channel_sends_in_its_own_encoding(tmp_path: Path) -> None:
    arrived = {}
    with sink() as posts, listening(tmp_path) as listeners:
        http = urlsplit(posts.url).netloc
        with stock_channels(listeners.grpc, http, {"service.name": "s"}) as channels:
            for channel in channels:
                before = len(posts.posts)
                with channel.tracer.start_as_current_span("one"):
                    pass
                channel.close()
                arrived[channel.name] = [post.headers["content-type"] for post in posts.posts[before:]]
        over_grpc = len(listeners.spans())
    assert arrived == {"grpc": [], "http/protobuf": ["application/x-protobuf"], "http/json": ["application/json"]}
    assert over_grpc == 1
