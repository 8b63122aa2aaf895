"""Jobs with ChainerRL: agents that learn in small environments."""

import os
import tempfile

import numpy as np
from jobs.training import run_recipe

import chainer
import chainer.functions as F
import chainer.links as L

STEPS = 400


def _environment(discrete=True, **options):
    """An environment whose actions must be taken in an order; the return is 1 then."""
    from chainerrl.envs.abc import ABC

    return ABC(size=2, discrete=discrete, episodic=True, deterministic=True, **options)


def _train(agent, environment, steps=STEPS, score=None):
    """Trains, evaluates, and saves and loads the agent."""
    import chainerrl

    with tempfile.TemporaryDirectory() as folder:
        chainerrl.experiments.train_agent_with_evaluation(
            agent,
            environment,
            steps=steps,
            eval_n_steps=None,
            eval_n_episodes=2,
            eval_interval=steps // 2,
            outdir=folder,
            train_max_episode_len=10,
        )
        returns = chainerrl.experiments.evaluator.run_evaluation_episodes(
            environment, agent, n_steps=None, n_episodes=5, max_episode_len=10
        )
        agent.save(os.path.join(folder, "agent"))
        agent.load(os.path.join(folder, "agent"))
        assert os.path.getsize(os.path.join(folder, "scores.txt")) > 0
    for name, value in agent.get_statistics():
        assert value is None or not np.isnan(value) or "n_updates" in name or steps < 500, name
    if score is not None:
        assert np.mean(returns) >= score, returns


def _q_function(environment, **options):
    from chainerrl.q_functions import FCStateQFunctionWithDiscreteAction

    return FCStateQFunctionWithDiscreteAction(
        environment.observation_space.low.size,
        environment.action_space.n,
        n_hidden_channels=20,
        n_hidden_layers=1,
        **options,
    )


def _dqn(agent_class="DQN", q_function=None, explorer=None, buffer=None, score=1, **options):
    import chainerrl

    environment = _environment()
    q_function = q_function or _q_function(environment)
    if explorer is None:
        explorer = chainerrl.explorers.LinearDecayEpsilonGreedy(
            1.0, 0.1, STEPS // 2, random_action_func=environment.action_space.sample
        )
    optimizer = chainer.optimizers.Adam(1e-2).setup(q_function)
    agent = getattr(chainerrl.agents, agent_class)(
        q_function,
        optimizer,
        buffer or chainerrl.replay_buffer.ReplayBuffer(10**4),
        gamma=0.9,
        explorer=explorer,
        replay_start_size=50,
        minibatch_size=16,
        target_update_interval=50,
        **options,
    )
    _train(agent, environment, score=score)


def dqn():
    """DQN learns the environment; agents are saved and loaded."""
    _dqn()


def dqn_prioritized():
    """DQN with prioritized replay and returns of three steps."""
    import chainerrl

    buffer = chainerrl.replay_buffer.PrioritizedReplayBuffer(10**4, betasteps=STEPS, num_steps=3)
    _dqn(buffer=buffer)


def double_dqn():
    """DoubleDQN learns the environment."""
    _dqn("DoubleDQN")


def residual_dqn():
    """ResidualDQN, whose gradient flows through the target as well."""
    _dqn("ResidualDQN", score=None)


def noisy_net():
    """DQN with NoisyNet instead of random actions."""
    import chainerrl

    q_function = _q_function(_environment())
    chainerrl.links.to_factorized_noisy(q_function, sigma_scale=0.5)
    _dqn(q_function=q_function, explorer=chainerrl.explorers.Greedy(), score=None)


def categorical_dqn():
    """CategoricalDQN (C51): distributions of returns."""
    import chainerrl

    environment = _environment()
    q_function = chainerrl.q_functions.DistributionalFCStateQFunctionWithDiscreteAction(
        environment.observation_space.low.size, environment.action_space.n, 11, 0, 1, 20, 1
    )
    _dqn("CategoricalDQN", q_function=q_function, score=None)


def iqn():
    """IQN: quantiles of returns."""
    import chainerrl
    from chainerrl.agents import iqn as module

    environment = _environment()
    hidden = 20
    q_function = module.ImplicitQuantileQFunction(
        psi=chainerrl.links.Sequence(L.Linear(None, hidden), F.relu),
        phi=chainerrl.links.Sequence(module.CosineBasisLinear(16, hidden), F.relu),
        f=L.Linear(None, environment.action_space.n),
    )
    q_function(np.zeros((1, environment.observation_space.low.size), np.float32))(
        np.zeros((1, 4), np.float32)
    )
    _dqn(
        "IQN",
        q_function=q_function,
        score=None,
        quantile_thresholds_N=8,
        quantile_thresholds_N_prime=8,
        quantile_thresholds_K=8,
    )


def recurrent_dqn():
    """DQN with an LSTM and episodic replay, where observations are incomplete."""
    import chainerrl

    environment = _environment(partially_observable=True)
    q_function = chainerrl.links.StatelessRecurrentSequential(
        L.NStepLSTM(1, environment.observation_space.low.size, 10, 0),
        L.Linear(10, environment.action_space.n),
        chainerrl.action_value.DiscreteActionValue,
    )
    agent = chainerrl.agents.DQN(
        q_function,
        chainer.optimizers.Adam(1e-2).setup(q_function),
        chainerrl.replay_buffer.EpisodicReplayBuffer(10**4),
        gamma=0.9,
        explorer=chainerrl.explorers.ConstantEpsilonGreedy(0.3, environment.action_space.sample),
        replay_start_size=50,
        minibatch_size=4,
        episodic_update_len=4,
        recurrent=True,
    )
    _train(agent, environment, steps=200)


def _softmax_policy(environment):
    import chainerrl

    return chainerrl.policies.FCSoftmaxPolicy(
        environment.observation_space.low.size, environment.action_space.n, 1, 20
    )


def _value_function(environment):
    import chainerrl

    return chainerrl.v_functions.FCVFunction(environment.observation_space.low.size, 1, 20)


def _actor_critic(environment):
    from chainerrl.agents.a3c import A3CSeparateModel

    return A3CSeparateModel(_softmax_policy(environment), _value_function(environment))


def a3c():
    """A3C: two processes train parameters in shared memory."""
    import chainerrl
    from chainerrl.optimizers.rmsprop_async import RMSpropAsync

    model = _actor_critic(_environment())
    optimizer = RMSpropAsync(lr=1e-2, eps=1e-2, alpha=0.99)
    optimizer.setup(model)
    optimizer.add_hook(chainer.optimizer.GradientClipping(40))
    agent = chainerrl.agents.A3C(model, optimizer, t_max=5, gamma=0.9, beta=1e-2)
    before = [parameter.array.copy() for parameter in model.params()]
    with tempfile.TemporaryDirectory() as folder:
        chainerrl.experiments.train_agent_async(
            folder,
            processes=2,
            make_env=lambda process, test: _environment(),
            agent=agent,
            steps=STEPS,
            eval_n_steps=None,
            eval_n_episodes=2,
            eval_interval=STEPS // 2,
            max_episode_len=10,
        )
    # The processes have written to the arrays of this one.
    assert any((a != p.array).any() for a, p in zip(before, model.params()))


def a2c():
    """A2C in a vector of environments."""
    import chainerrl
    from chainerrl.agents.a2c import A2CSeparateModel
    from chainerrl.envs import SerialVectorEnv

    environment = _environment()
    model = A2CSeparateModel(_softmax_policy(environment), _value_function(environment))
    optimizer = chainer.optimizers.Adam(1e-2).setup(model)
    agent = chainerrl.agents.A2C(model, optimizer, gamma=0.9, num_processes=2, update_steps=5)
    with tempfile.TemporaryDirectory() as folder:
        chainerrl.experiments.train_agent_batch_with_evaluation(
            agent,
            SerialVectorEnv([_environment(), _environment()]),
            steps=STEPS,
            eval_n_steps=None,
            eval_n_episodes=2,
            eval_interval=STEPS // 2,
            outdir=folder,
            max_episode_len=10,
        )


def ppo():
    """PPO with normalized observations."""
    import chainerrl

    environment = _environment()
    model = _actor_critic(environment)
    normalizer = chainerrl.links.EmpiricalNormalization(
        environment.observation_space.low.size, clip_threshold=5
    )
    agent = chainerrl.agents.PPO(
        model,
        chainer.optimizers.Adam(1e-2).setup(model),
        obs_normalizer=normalizer,
        update_interval=50,
        minibatch_size=25,
        epochs=3,
        gamma=0.9,
    )
    _train(agent, environment, steps=800, score=1)


def ppo_continuous():
    """PPO with a Gaussian policy."""
    import chainerrl
    from chainerrl.agents.a3c import A3CSeparateModel

    environment = _environment(discrete=False)
    policy = chainerrl.policies.FCGaussianPolicyWithStateIndependentCovariance(
        environment.observation_space.low.size,
        environment.action_space.low.size,
        n_hidden_layers=1,
        n_hidden_channels=20,
    )
    model = A3CSeparateModel(policy, _value_function(environment))
    agent = chainerrl.agents.PPO(
        model,
        chainer.optimizers.Adam(1e-2).setup(model),
        update_interval=50,
        minibatch_size=25,
        epochs=3,
    )
    _train(agent, environment)


def trpo():
    """TRPO: products of vectors with the Hessian, by differentiating twice."""
    import chainerrl

    environment = _environment()
    value_function = _value_function(environment)
    agent = chainerrl.agents.TRPO(
        policy=_softmax_policy(environment),
        vf=value_function,
        vf_optimizer=chainer.optimizers.Adam(1e-2).setup(value_function),
        update_interval=50,
        vf_batch_size=25,
        conjugate_gradient_max_iter=10,
        gamma=0.9,
    )
    _train(agent, environment, steps=800, score=0.5)


def _continuous():
    environment = _environment(discrete=False)
    return (
        environment,
        environment.observation_space.low.size,
        environment.action_space.low.size,
    )


def _deterministic_policy(environment, observations, actions):
    import chainerrl

    return chainerrl.policies.FCDeterministicPolicy(
        observations,
        action_size=actions,
        n_hidden_channels=20,
        n_hidden_layers=1,
        min_action=environment.action_space.low,
        max_action=environment.action_space.high,
        bound_action=True,
    )


def ddpg():
    """DDPG with an actor and a critic, noise of Ornstein and Uhlenbeck."""
    import chainerrl
    from chainerrl.agents.ddpg import DDPGModel

    environment, observations, actions = _continuous()
    q_function = chainerrl.q_functions.FCSAQFunction(observations, actions, 20, 1)
    model = DDPGModel(_deterministic_policy(environment, observations, actions), q_function)
    agent = chainerrl.agents.DDPG(
        model,
        chainer.optimizers.Adam(1e-3).setup(model["policy"]),
        chainer.optimizers.Adam(1e-2).setup(model["q_function"]),
        chainerrl.replay_buffer.ReplayBuffer(10**4),
        gamma=0.9,
        explorer=chainerrl.explorers.AdditiveOU(sigma=0.5),
        replay_start_size=50,
        minibatch_size=16,
        target_update_interval=1,
        target_update_method="soft",
        soft_update_tau=1e-2,
    )
    _train(agent, environment)


def td3():
    """TD3: two critics and a delayed policy."""
    import chainerrl

    environment, observations, actions = _continuous()
    policy = _deterministic_policy(environment, observations, actions)
    critics = [chainerrl.q_functions.FCSAQFunction(observations, actions, 20, 1) for _ in range(2)]
    agent = chainerrl.agents.TD3(
        policy,
        *critics,
        chainer.optimizers.Adam(1e-3).setup(policy),
        *(chainer.optimizers.Adam(1e-2).setup(critic) for critic in critics),
        chainerrl.replay_buffer.ReplayBuffer(10**4),
        gamma=0.9,
        explorer=chainerrl.explorers.AdditiveGaussian(scale=0.3, low=-1, high=1),
        replay_start_size=50,
        minibatch_size=16,
        burnin_action_func=lambda: environment.action_space.sample().astype(np.float32),
    )
    _train(agent, environment)


def soft_actor_critic():
    """SoftActorCritic with a tuned temperature."""
    import chainerrl

    environment, observations, actions = _continuous()

    def squashed(x):
        mean, log_scale = F.split_axis(x, 2, axis=1)
        scale = F.exp(F.clip(log_scale, -20.0, 2.0))
        return chainerrl.distribution.SquashedGaussianDistribution(mean, scale**2)

    policy = chainer.Sequential(
        L.Linear(observations, 20), F.relu, L.Linear(20, actions * 2), squashed
    )
    critics = [chainerrl.q_functions.FCSAQFunction(observations, actions, 20, 1) for _ in range(2)]
    agent = chainerrl.agents.SoftActorCritic(
        policy,
        *critics,
        *(chainer.optimizers.Adam(1e-2).setup(link) for link in (policy, *critics)),
        chainerrl.replay_buffer.ReplayBuffer(10**4),
        gamma=0.9,
        replay_start_size=50,
        minibatch_size=16,
        entropy_target=-actions,
        temperature_optimizer=chainer.optimizers.Adam(1e-2),
    )
    _train(agent, environment)


def reinforce():
    """REINFORCE with a softmax policy."""
    import chainerrl

    environment = _environment()
    policy = _softmax_policy(environment)
    agent = chainerrl.agents.REINFORCE(
        policy, chainer.optimizers.Adam(1e-2).setup(policy), beta=1e-2, batchsize=5
    )
    _train(agent, environment, steps=800)


def acer():
    """ACER: an actor and a critic with replay and a trust region."""
    import chainerrl
    from chainerrl.agents.acer import ACERSeparateModel

    environment = _environment()
    model = ACERSeparateModel(pi=_softmax_policy(environment), q=_q_function(environment))
    agent = chainerrl.agents.ACER(
        model,
        chainer.optimizers.Adam(1e-2).setup(model),
        t_max=5,
        gamma=0.9,
        replay_buffer=chainerrl.replay_buffer.EpisodicReplayBuffer(1000),
        n_times_replay=2,
        replay_start_size=50,
        beta=1e-2,
    )
    _train(agent, environment)


def pcl():
    """PCL: path consistency of the values and the policy."""
    import chainerrl

    environment = _environment()
    model = chainerrl.agents.pcl.PCLSeparateModel(
        pi=_softmax_policy(environment), v=_value_function(environment)
    )
    agent = chainerrl.agents.PCL(
        model,
        chainer.optimizers.Adam(1e-2).setup(model),
        replay_buffer=chainerrl.replay_buffer.EpisodicReplayBuffer(1000),
        t_max=5,
        gamma=0.9,
        tau=1e-2,
        rollout_len=5,
        n_times_replay=1,
        replay_start_size=50,
        batchsize=2,
        train_async=False,
    )
    _train(agent, environment)


def cart_pole():
    """DoubleDQN in Gym's CartPole, with wrappers."""
    import chainerrl
    import gym

    environment = chainerrl.wrappers.ScaleReward(
        chainerrl.wrappers.CastObservationToFloat32(gym.make("CartPole-v0")), 0.01
    )
    environment.seed(0)
    q_function = _q_function(environment)
    agent = chainerrl.agents.DoubleDQN(
        q_function,
        chainer.optimizers.Adam(1e-3).setup(q_function),
        chainerrl.replay_buffer.ReplayBuffer(10**4),
        gamma=0.99,
        explorer=chainerrl.explorers.LinearDecayEpsilonGreedy(
            1.0, 0.1, STEPS, environment.action_space.sample
        ),
        replay_start_size=100,
        minibatch_size=16,
    )
    _train(agent, environment)


def functions():
    """Functions of ChainerRL: values and gradients."""
    import chainerrl.functions as RF
    from chainerrl.functions.bound_by_tanh import bound_by_tanh
    from chainerrl.functions.invert_gradients import invert_gradients
    from chainerrl.functions.lower_triangular_matrix import lower_triangular_matrix
    from chainerrl.functions.mellowmax import mellowmax
    from chainerrl.functions.scale_grad import scale_grad

    rng = np.random.RandomState(0)
    x = chainer.Variable(rng.uniform(-0.9, 0.9, (3, 4)).astype(np.float32))
    y = chainer.Variable(rng.uniform(-0.9, 0.9, (3, 4)).astype(np.float32))
    results = [
        RF.arctanh(x),
        bound_by_tanh(x, -np.ones(4, np.float32), np.ones(4, np.float32)),
        mellowmax(x, axis=1),
        RF.sum_arrays([x, y]),
        RF.weighted_sum_arrays([x, y], [0.5, 2.0]),
        scale_grad(x, 0.5),
        invert_gradients(x, np.full((3, 4), -1, np.float32), np.full((3, 4), 1, np.float32)),
        lower_triangular_matrix(
            chainer.Variable(np.ones((3, 2), np.float32)),
            chainer.Variable(np.ones((3, 1), np.float32)),
        ),
    ]
    np.testing.assert_allclose(results[0].array, np.arctanh(x.array), rtol=1e-5)
    total = sum(F.sum(result) for result in results)
    total.backward()
    assert np.isfinite(x.grad).all() and np.isfinite(y.grad).all()


def recipe():
    """The program of `docs/recipes/chainerrl.md`, and what the page says that it prints."""
    run_recipe("chainerrl")
