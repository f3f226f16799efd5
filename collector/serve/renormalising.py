"""`/api/v1/renormalise`: the dialects in force over what is stored, slice by slice."""

from __future__ import annotations

from fastapi import APIRouter, Request

from collector.normalise.replay import Replay, progress_of
from collector.rules import words_digest, words_of
from collector.serve.access import need
from collector.serve.strict import StrictJSON
from collector.store.store import Store

router = APIRouter()


@router.get("/api/v1/renormalise", summary="How far a replay of the dialects has come")
def standing(request: Request) -> StrictJSON:
    """Rows seen, changed and left of the replay of the words in force."""
    need(request.state.grant, "read")
    store: Store = request.app.state.store
    return StrictJSON(progress_of(store, store.replays.cursor(store.generation)))


@router.post("/api/v1/renormalise", summary="Replay the dialects in force over a slice of what is stored")
def renormalise(request: Request, begin: bool = False) -> StrictJSON:
    """Replay one slice; ask again until `finished`. `begin` goes on with an unfinished replay, else starts one.

    Where it stands is kept in the store: after a crash, or from another client, it goes on there.
    """
    need(request.state.grant, "admin")
    store: Store = request.app.state.store
    config = request.app.state.config
    replay = Replay(store, words_of(config), store.register_words(words_digest(config)))
    return StrictJSON(progress_of(store, replay.begin() if begin else replay.step()))
