"""The demo's spans are what stock GenAI instrumentation sends, and say what the lesson says."""

import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from collector.demo.data import MATRIX, Trial, lab, lesson, matrix
from collector.demo.spans import Recorder
from collector.normalise.unpack import spans_of
from semconv.facts import Facts
from semconv.resolve import facts_of
from semconv.words import Words


def facts_sent(trial: Trial) -> list[Facts]:
    """What the vocabulary finds on the trial's spans, in the order they ended."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({"service.name": "test"}), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    Recorder(provider.get_tracer("test"), trial, 1_793_000_000_000_000_000).record()
    payload = encode_spans(exporter.get_finished_spans()).SerializeToString()
    return [facts_of(span, Words()) for span in spans_of(payload)]


@pytest.fixture
def run_b() -> list[Facts]:
    return facts_sent(lesson()[1])


def test_each_turn_is_one_model_call_and_each_call_one_tool_span(run_b: list[Facts]) -> None:
    operations = [facts.operation for facts in run_b]
    assert operations.count("chat") == 4
    assert operations.count("tool") == 4
    assert operations[-1] == "agent"


def test_calls_carry_their_id_and_arguments_in_both_places(run_b: list[Facts]) -> None:
    spans = {facts.call_id: facts.input for facts in run_b if facts.operation == "tool"}
    parts = [part for facts in run_b for message in facts.messages_out for part in message.parts]
    messages = {part.call_id: part.value for part in parts if part.kind == "tool_call"}
    assert spans == messages
    assert list(spans.values())[2:] == [{"file_path": "tests/test_invoice.py"}, {"file_path": "src/invoice.py"}]


def test_only_calls_with_a_tool_line_in_the_lesson_have_a_result(run_b: list[Facts]) -> None:
    results = {(facts.tool, facts.output) for facts in run_b if facts.operation == "tool"}
    assert results == {("Edit", None), ("Bash", "1 failed, 41 passed")}


def test_the_root_names_task_and_trial() -> None:
    root = facts_sent(lab()[0])[-1].own
    assert root is not None
    assert (root.task_id, root.trial_id, root.run_id) == ("the temperature in Paris plus 10", "A", "A")
    assert (root.expected, root.outcome) == ("32", "")


def test_outcomes_on_the_root_are_said_there_only_where_the_attribute_is_the_way() -> None:
    said = {trial.name: facts_sent(trial)[-1].own for trial in matrix()[:10]}
    assert all(own and own.outcome == "pass" for name, own in said.items() if name.startswith("fix-rounding"))
    assert all(own and own.outcome == "" for name, own in said.items() if name.startswith("add-endpoint"))


def test_the_matrix_has_forty_trials_and_every_way_to_say_an_outcome() -> None:
    trials = matrix()
    assert len(trials) == 40
    assert {trial.said_by for trial in trials} == {"attribute", "event", "api"}
    marks = {task: "".join("P" if t.outcome == "pass" else "." for t in trials if t.task_id == task) for task in MATRIX}
    assert marks == {task: row for task, (row, _) in MATRIX.items()}
