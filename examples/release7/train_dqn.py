"""Deep Q-learning of a pole that is balanced on a cart, with a replay buffer and a target network.

python train_dqn.py --episodes 200
python train_dqn.py --small
"""

import argparse
import collections
import copy

import numpy as np
from small_data import add_options, set_weights, write_log

import chainer
import chainer.functions as F
import chainer.links as L


class CartPole:
    """The environment: Barto, Sutton and Anderson, 1983. Actions: 0 (left) and 1 (right)."""

    def __init__(self, random):
        self.random = random

    def reset(self):
        self.state = self.random.uniform(-0.05, 0.05, 4)
        return self.state.astype(np.float32)

    def step(self, action):
        """Returns the observation and whether the pole has fallen."""
        x, speed, angle, rotation = self.state
        gravity, cart, pole, length, seconds = 9.8, 1.0, 0.1, 0.5, 0.02
        force = 10.0 if action else -10.0
        sine, cosine = np.sin(angle), np.cos(angle)
        push = (force + pole * length * rotation**2 * sine) / (cart + pole)
        turn = (gravity * sine - cosine * push) / (
            length * (4.0 / 3 - pole * cosine**2 / (cart + pole))
        )
        acceleration = push - pole * length * turn * cosine / (cart + pole)
        self.state = np.array(
            [
                x + seconds * speed,
                speed + seconds * acceleration,
                angle + seconds * rotation,
                rotation + seconds * turn,
            ]
        )
        fallen = abs(self.state[0]) > 2.4 or abs(self.state[2]) > 12 * np.pi / 180
        return self.state.astype(np.float32), bool(fallen)


class QFunction(chainer.Chain):
    def __init__(self, units):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(4, units)
            self.l2 = L.Linear(units, units)
            self.l3 = L.Linear(units, 2)

    def forward(self, x):
        return self.l3(F.relu(self.l2(F.relu(self.l1(x)))))


class Agent:
    def __init__(self, q, device, random, batch_size, gamma=0.99):
        self.q, self.device, self.random = q, device, random
        self.batch_size, self.gamma = batch_size, gamma
        self.target = copy.deepcopy(q)
        self.optimizer = chainer.optimizers.Adam(eps=1e-2).setup(q)
        self.buffer = collections.deque(maxlen=10**5)

    def act(self, observation, epsilon):
        if self.random.rand() < epsilon:
            return self.random.randint(2)
        with chainer.no_backprop_mode():
            values = self.q(self.device.send(observation[None]))
        return int(values.array[0].argmax())

    def update(self):
        """Learns from a batch of the past; returns the loss."""
        chosen = self.random.randint(0, len(self.buffer), self.batch_size)
        batch = chainer.dataset.concat_examples([self.buffer[i] for i in chosen], self.device)
        observation, action, reward, following, fallen = batch
        value = F.select_item(self.q(observation), action)
        with chainer.no_backprop_mode():
            best = F.max(self.target(following), axis=1)
            expected = reward + self.gamma * (1 - fallen) * best.array
        loss = F.mean(F.huber_loss(value, expected, 1.0, reduce="no"))
        self.q.cleargrads()
        loss.backward()
        self.optimizer.update()
        return float(loss.array)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser, epochs=0)
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--units", "-u", type=int, default=100)
    parser.add_argument("--batch-size", "-b", type=int, default=64)
    arguments = parser.parse_args()
    device = chainer.get_device(arguments.device)
    device.use()

    warm_up = 500
    if arguments.small:
        arguments.episodes, arguments.units, arguments.batch_size, warm_up = 4, 10, 8, 20
    q = QFunction(arguments.units)
    if arguments.small:
        set_weights(q)
    q.to_device(device)
    random = np.random.RandomState(0)
    environment, agent = CartPole(random), Agent(q, device, random, arguments.batch_size)
    losses, steps = [], 0
    for episode in range(arguments.episodes):
        observation, length = environment.reset(), 0
        fallen = False
        while not fallen and length < 200:
            action = agent.act(observation, max(0.05, 1 - steps / 5000))
            following, fallen = environment.step(action)
            agent.buffer.append(
                (observation, np.int32(action), np.float32(1), following, np.float32(fallen))
            )
            observation = following
            length += 1
            steps += 1
            if steps >= warm_up:
                losses.append(agent.update())
            if steps % 100 == 0:
                agent.target.copyparams(agent.q)
        print(f"episode {episode + 1}: {length} steps")
    write_log(arguments.out, losses)
    chainer.serializers.save_npz(arguments.out + "/q.npz", q)


if __name__ == "__main__":
    main()
