"""Graphs, analysis, simulations and runs, without PyTorch."""

import doctest
import importlib

import numpy as np
import pytest

import consort


@pytest.mark.parametrize("name", ["", ".method", ".runs", "._consort"])
def test_every_example_in_a_docstring_runs(name):
    module = importlib.import_module(f"consort{name}")
    finder = doctest.DocTestFinder()
    runner = doctest.DocTestRunner()
    for test in finder.find(module):
        assert runner.run(test).failed == 0, test.name
    if name == "._consort":  # compiled: the finder does not look into its classes
        for thing in (consort.Graph, consort.analyze, consort.methods):
            examples = doctest.DocTestParser().get_doctest(thing.__doc__, {}, thing.__name__, None, 0)
            assert examples.examples and runner.run(examples).failed == 0


def test_the_papers_graphs_and_limits():
    assert consort.graph("ring:16").spectral_gap == pytest.approx(0.05075, abs=5e-6)
    assert consort.graph("dyck").lambda_min == pytest.approx(-0.5)
    weights = consort.graph("torus:4x8").weights()
    assert weights.shape == (32, 32) and np.allclose(weights.sum(0), 1) and np.allclose(weights, weights.T)
    printed = consort.analyze("gut:mu=0.9,reading=printed", "ring:16")
    assert not printed["stable"] and printed["largest_stable_mu"] == pytest.approx(0.2, abs=1e-3)
    assert "<svg" in consort.graph("petersen")._repr_svg_()


def test_bad_input_is_a_value_error_that_says_what_to_do():
    with pytest.raises(ValueError, match="ring"):
        consort.graph("rinng:16")
    with pytest.raises(ValueError, match="gut"):
        consort.analyze("gutt", "ring:8")
    with pytest.raises(ValueError, match="did you mean `epochs`"):
        consort.train(epoch=3)
    with pytest.raises(ValueError, match="eta must be above 0"):
        quadratic(eta=-1.0)
    with pytest.raises(TypeError, match="float32"):
        consort.simulate(lambda a, r, x, s: (0.0, [0.0]), np.zeros(1, "f4"), graph="ring:4", rounds=1, eta=0.1)


CENTRES = np.array([[0.0, 4.0], [1.0, -3.0], [2.0, 5.0], [5.0, 2.0]], "f4")


def quadratic(method="gut", rounds=300, eta=0.1, graph="ring:4", **more):
    def gradient(agent, round, x, step):
        return 0.5 * float(((x - CENTRES[agent]) ** 2).sum()), x - CENTRES[agent]

    return consort.simulate(
        gradient, np.zeros(2, "f4"), graph=graph, method=method, rounds=rounds, eta=eta, **more
    )


def test_gradients_from_python_train_and_have_the_same_bits_every_time():
    run = quadratic()
    assert np.allclose(run.average, CENTRES.mean(0), atol=1e-5)
    again = quadratic(threads=2, every=100)
    assert (run.models == again.models).all() and len(again.history) == 3
    assert run.history[-1]["consensus_distance"] < quadratic("dsgd").history[-1]["consensus_distance"]


def test_what_a_gradient_function_raises_is_raised():
    def gradient(agent, round, x, step):
        raise KeyError(f"agent {agent} has no data")

    with pytest.raises(KeyError, match="agent 0 has no data"):
        consort.simulate(gradient, np.zeros(1, "f4"), graph="ring:4", rounds=3, eta=0.1)


class Gut(consort.Method):
    """The paper's method, as it was run, from its equations."""

    state = ("x", "s", "y", "mixed_y", "gradient")
    mu = 0.5

    def __init__(self, x0):
        super().__init__(x0)
        self.s = x0.copy()
        self.y = self.mixed_y = self.gradient = np.zeros_like(x0)

    def probe(self):
        return self.s

    def local_step(self, gradient, eta):
        pull = (self.s - self.x) / np.float32(eta)
        self.y = gradient - pull + np.float32(self.mu) * (self.mixed_y - self.gradient)
        self.gradient = gradient
        self.x = self.x - np.float32(eta) * self.y
        return self.y

    def mix(self, messages, weights, own, eta):
        self.mixed_y = sum(w * m for w, m in zip(weights, messages))
        self.s = self.s - np.float32(eta) * self.mixed_y


def test_a_method_written_in_python_is_the_built_in_one():
    own, built_in = quadratic(Gut, rounds=60), quadratic("gut:mu=0.5", rounds=60)
    assert np.allclose(own.models, built_in.models, atol=2e-5)  # other roundings: 1e-6 was measured


def test_a_method_that_returns_nonsense_is_named():
    class Wrong(consort.Method):
        def local_step(self, gradient, eta):
            return np.zeros(5, "f4")

        def mix(self, messages, weights, own, eta):
            pass

    with pytest.raises(ValueError, match="message of local_step has 5 numbers, expected 2"):
        quadratic(Wrong, rounds=2)


def test_agents_driven_by_hand_have_the_simulators_bits():
    expected = quadratic("qg-gutm", rounds=20).models
    agents = [consort.Agent("qg-gutm", "ring:4", k, np.zeros(2, "f4")) for k in range(4)]
    for _ in range(20):
        sent = [a.gradient(a.probe() - CENTRES[a.id], 0.1) for a in agents]
        for sender, messages in enumerate(sent):
            for receiver, message in messages.items():
                agents[receiver].receive(sender, agents[receiver].exchange, message)
        assert all(agent.advance() for agent in agents)
    assert (np.stack([agent.x for agent in agents]) == expected).all()


def test_a_run_gives_records_figures_and_the_bits_of_its_parts():
    keys = dict(model="mlp:16", graph="ring:4", partition="dirichlet:0.5", seeds=[3], rounds=30)
    result = consort.train(methods=["gut", "qg-gutm"], progress=False, **keys)
    assert set(result.figures) >= {"accuracy", "train-loss"} and "<svg" in result.figures["accuracy"]
    assert result.table()[0]["method"] == "gut" and "<table>" in result._repr_html_()
    assert len(result.records) == sum(len(trial["records"]) for trial in result.trials)
    problem = consort.problem(methods=["gut"], **keys)
    run = consort.simulate(
        problem.gradient,
        problem.x0,
        graph="ring:4",
        method="gut",
        rounds=problem.rounds,
        eta=lambda round: problem.eta * step_factor(round, problem.rounds),
        threads=2,
    )
    assert (run.average == result.trials[0]["model"]).all()
    assert problem.accuracy(run.average) == result.accuracy("gut")[0]


def step_factor(round, rounds):
    """The default schedule: a tenth at half of the run, a hundredth at three quarters."""
    return 0.1 ** ((round >= rounds / 2) + (round >= rounds * 3 / 4))
