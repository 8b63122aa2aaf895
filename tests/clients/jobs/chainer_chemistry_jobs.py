"""Jobs with Chainer Chemistry: graph networks on a few molecules."""

import os
import tempfile

import numpy as np
from jobs.training import check_npz, train

import chainer
import chainer.functions as F

SMILES = ["CCO", "CC(=O)O", "c1ccccc1", "CCN", "C#N", "CC(C)O"]


def _data(method, labels):
    from chainer_chemistry.dataset.preprocessors import preprocess_method_dict
    from rdkit import Chem

    preprocessor = preprocess_method_dict[method]()
    examples = []
    for smiles, label in zip(SMILES, labels):
        molecule = Chem.MolFromSmiles(smiles)
        _, molecule = preprocessor.prepare_smiles_and_mol(molecule)
        features = preprocessor.get_input_features(molecule)
        features = features if isinstance(features, tuple) else (features,)
        examples.append((*features, label))
    return examples


def _regress(method, *models):
    """Trains a regressor with a Trainer, then predicts, for each of some networks."""
    from chainer_chemistry.dataset.converters import concat_mols
    from chainer_chemistry.models.prediction import Regressor, set_up_predictor

    labels = np.linspace(0, 1, len(SMILES), dtype=np.float32)[:, None]
    examples = _data(method, labels)
    for name in models or (method,):
        predictor = set_up_predictor(name, n_unit=8, conv_layers=2, class_num=1)
        regressor = Regressor(
            predictor, F.mean_squared_error, {"mae": F.mean_absolute_error}, device=-1
        )
        _fit(regressor, examples, concat_mols)
        predicted = regressor.predict(examples, converter=_without_label(concat_mols))
        assert predicted.shape == (len(SMILES), 1) and np.isfinite(predicted).all()
        check_npz(regressor)


def _without_label(converter):
    def convert(batch, device=None):
        return converter(batch, device)[:-1]

    return convert


def _fit(model, examples, converter, metric="main/loss"):
    optimizer = chainer.optimizers.Adam(1e-2).setup(model)
    iterator = chainer.iterators.SerialIterator(examples, 3)
    updater = chainer.training.StandardUpdater(
        iterator, optimizer, device="@numpy", converter=converter
    )
    with tempfile.TemporaryDirectory() as folder:
        trainer = chainer.training.Trainer(updater, (3, "epoch"), out=folder)
        once = chainer.iterators.SerialIterator(examples, 3, repeat=False, shuffle=False)
        trainer.extend(
            chainer.training.extensions.Evaluator(once, model, converter, device="@numpy")
        )
        trainer.extend(chainer.training.extensions.LogReport())
        trainer.run()
        log = trainer.get_extension("LogReport").log
    assert all(np.isfinite(entry[metric]) for entry in log)
    assert np.isfinite(log[-1]["validation/" + metric])


def nfp():
    """NFP, also with the warp module: Regressor, Trainer, npz."""
    _regress("nfp", "nfp")
    _regress("nfp_gwm", "nfp_gwm")


def ggnn():
    """GGNN, also with the warp module: Regressor, Trainer, npz."""
    _regress("ggnn")
    _regress("ggnn_gwm")


def gin():
    """GIN, also with the warp module: Regressor, Trainer, npz."""
    _regress("gin")
    _regress("gin_gwm")


def rsgcn():
    """RSGCN, also with the warp module: Regressor, Trainer, npz."""
    _regress("rsgcn")
    _regress("rsgcn_gwm")


def schnet():
    """SchNet on distances in space: Regressor, Trainer, npz."""
    _regress("schnet")


def weavenet():
    """WeaveNet on features of atoms and pairs: Regressor, Trainer, npz."""
    _regress("weavenet")


def relgcn():
    """RelGCN: Regressor, Trainer, npz."""
    _regress("relgcn")


def relgat():
    """RelGAT: Regressor, Trainer, npz."""
    _regress("relgat")


def gnnfilm():
    """GNNFiLM: Regressor, Trainer, npz."""
    _regress("gnnfilm")


def _train_on_edges(method):
    from chainer_chemistry.dataset.preprocessors import preprocess_method_dict
    from chainer_chemistry.models.prediction import set_up_predictor

    labels = np.arange(len(SMILES), dtype=np.float32)[:, None]
    columns = zip(*_data(method, labels))
    dataset = preprocess_method_dict[method]().create_dataset(*columns)
    batch = dataset.converter([dataset[i] for i in range(4)], -1)
    predictor = set_up_predictor(method, n_unit=8, conv_layers=2, class_num=1)
    train(predictor, lambda: F.mean((predictor(batch) - labels[:4]) ** 2))
    check_npz(predictor)


# Two jobs: datasets of one process share the list of their features, which differ here.
def relgcn_sparse():
    """RelGCN on graphs given as lists of edges, with the converter of their dataset."""
    _train_on_edges("relgcn_sparse")


def gin_sparse():
    """GIN on graphs given as lists of edges, with the converter of their dataset."""
    _train_on_edges("gin_sparse")


def _graph(count=4, atoms=5, edge_types=4):
    rng = np.random.RandomState(0)
    atom = rng.randint(1, 9, (count, atoms)).astype(np.int32)
    adjacency = rng.randint(0, 2, (count, edge_types, atoms, atoms)).astype(np.float32)
    wle = rng.randint(0, 20, (count, atoms)).astype(np.int32)
    return atom, adjacency, wle


def _train_network(network, *inputs):
    """Trains the sum of the outputs towards one."""
    train(network, lambda: F.mean((network(*inputs) - 1) ** 2))
    check_npz(network)


def mpnn():
    """MPNN with both readouts and both message functions: training, npz."""
    from chainer_chemistry.models import MPNN

    atom, adjacency, _ = _graph()
    for message, readout in (("edgenet", "set2set"), ("ggnn", "ggnn")):
        network = MPNN(3, n_update_layers=2, message_func=message, readout_func=readout)
        _train_network(network, atom, adjacency)


def _weisfeiler_lehman(kind):
    from chainer_chemistry import models

    atom, adjacency, wle = _graph()
    for name in ("NFP", "GGNN", "GIN", "RSGCN", "RelGCN", "RelGAT"):
        network = getattr(models, f"{name}_{kind}")(
            # RSGCN needs as many channels as outputs.
            out_dim=6,
            hidden_channels=6,
            n_update_layers=2,
            n_wle_types=20,
        )
        # Some networks know one type of edges.
        one_type = name in ("NFP", "RSGCN", "GIN")
        _train_network(network, atom, adjacency[:, 0] if one_type else adjacency, wle)


def cwle():
    """The six networks with combined Weisfeiler-Lehman embeddings: training, npz."""
    _weisfeiler_lehman("CWLE")


def gwle():
    """The six networks with gated Weisfeiler-Lehman embeddings: training, npz."""
    _weisfeiler_lehman("GWLE")


def sparse_ggnn():
    """SparseGGNN on graphs given as lists of edges: training, npz."""
    from chainer_chemistry.models import SparseGGNN

    atom, _, _ = _graph()
    edges = np.array([[0, 1, 3, 4]] * len(atom), np.int32)
    network = SparseGGNN(out_dim=3, hidden_channels=6, n_update_layers=2)
    _train_network(
        network, atom, np.ones(edges.shape, np.float32), edges, edges[:, ::-1].copy(), edges % 4
    )


def cgcnn():
    """CGCNN on crystals, with its converter: Regressor, Trainer, npz."""
    from chainer_chemistry.dataset.converters import cgcnn_converter
    from chainer_chemistry.models.prediction import Regressor, set_up_predictor

    rng = np.random.RandomState(0)
    examples = [
        (
            rng.randn(atoms, 10).astype(np.float32),
            rng.randn(atoms, 4, 6).astype(np.float32),
            rng.randint(0, atoms, (atoms, 4)).astype(np.int32),
            rng.randn(1).astype(np.float32),
        )
        # Crystals of various sizes: the converter makes an array of arrays of their indices.
        for atoms in (3, 4, 5, 3, 6, 4)
    ]
    predictor = set_up_predictor("cgcnn", n_unit=8, conv_layers=2, class_num=1)
    regressor = Regressor(predictor, F.mean_squared_error, device=-1)
    _fit(regressor, examples, cgcnn_converter)
    check_npz(regressor)


def megnet():
    """MEGNet, with its preprocessor and converter: Regressor, Trainer, npz."""
    from chainer_chemistry.dataset.converters import megnet_converter
    from chainer_chemistry.models.prediction import Regressor, set_up_predictor

    examples = _data("megnet", np.linspace(0, 1, len(SMILES), dtype=np.float32)[:, None])
    predictor = set_up_predictor("megnet", n_unit=8, conv_layers=2, class_num=1)
    regressor = Regressor(predictor, F.mean_squared_error, device=-1)
    _fit(regressor, examples, megnet_converter)
    check_npz(regressor)


def classifier():
    """Classifier with a metric, prediction of probabilities, ROC-AUC and PRC-AUC evaluators."""
    from chainer_chemistry.dataset.converters import concat_mols
    from chainer_chemistry.models.prediction import Classifier, set_up_predictor
    from chainer_chemistry.training.extensions.prc_auc_evaluator import PRCAUCEvaluator
    from chainer_chemistry.training.extensions.roc_auc_evaluator import ROCAUCEvaluator

    labels = np.array([0, 1, 0, 1, 0, 1], np.int32)[:, None]
    examples = _data("nfp", labels)
    predictor = set_up_predictor("nfp", n_unit=8, conv_layers=2, class_num=1)
    model = Classifier(predictor, F.sigmoid_cross_entropy, metrics_fun=F.binary_accuracy, device=-1)
    _fit(model, examples, concat_mols, "main/accuracy")
    probabilities = model.predict_proba(examples, converter=_without_label(concat_mols))
    assert probabilities.shape[0] == len(SMILES)
    for evaluator, name in ((ROCAUCEvaluator, "roc_auc"), (PRCAUCEvaluator, "prc_auc")):
        once = chainer.iterators.SerialIterator(examples, 3, repeat=False, shuffle=False)
        result = evaluator(
            once,
            model,
            converter=concat_mols,
            device=-1,
            eval_func=predictor,
            name="test",
        )()
        assert any(name in key for key in result), result
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.pickle")
        model.save_pickle(path)
        loaded = Classifier.load_pickle(path, device=-1)
    np.testing.assert_array_equal(
        loaded.predict_proba(examples, converter=_without_label(concat_mols)), probabilities
    )


def r2_score_and_scalers():
    """R2ScoreEvaluator, StandardScaler and the other scalers of labels."""
    from chainer_chemistry.dataset.converters import concat_mols
    from chainer_chemistry.links.scaler.max_abs_scaler import MaxAbsScaler
    from chainer_chemistry.links.scaler.min_max_scaler import MinMaxScaler
    from chainer_chemistry.links.scaler.standard_scaler import StandardScaler
    from chainer_chemistry.models import MLP, NFP
    from chainer_chemistry.models.prediction import GraphConvPredictor, Regressor
    from chainer_chemistry.training.extensions import R2ScoreEvaluator

    labels = np.linspace(0, 5, len(SMILES), dtype=np.float32)[:, None]
    for scaler_class in (StandardScaler, MinMaxScaler, MaxAbsScaler):
        scaler = scaler_class()
        scaled = scaler.fit_transform(labels)
        np.testing.assert_allclose(scaler.inverse_transform(scaled), labels, atol=1e-5)
    examples = _data("nfp", labels)
    predictor = GraphConvPredictor(
        NFP(out_dim=8, hidden_channels=8), MLP(out_dim=1, hidden_dim=8), StandardScaler()
    )
    predictor.label_scaler.fit(labels)
    regressor = Regressor(predictor, F.mean_squared_error, device=-1)
    _fit(regressor, examples, concat_mols)
    once = chainer.iterators.SerialIterator(examples, 3, repeat=False, shuffle=False)
    result = R2ScoreEvaluator(
        once, regressor, converter=concat_mols, device=-1, eval_func=regressor.predictor, name="t"
    )()
    assert any("r2_score" in key for key in result), result


def saliency():
    """Saliency: gradients with respect to hidden layers, seen by a link hook."""
    from chainer_chemistry.dataset.converters import concat_mols
    from chainer_chemistry.link_hooks import VariableMonitorLinkHook
    from chainer_chemistry.models.prediction import set_up_predictor
    from chainer_chemistry.saliency.calculator.gradient_calculator import GradientCalculator
    from chainer_chemistry.saliency.calculator.integrated_gradients_calculator import (
        IntegratedGradientsCalculator,
    )

    examples = _data("nfp", np.zeros((len(SMILES), 1), np.float32))
    predictor = set_up_predictor("nfp", n_unit=8, conv_layers=2, class_num=1)
    predictor(*concat_mols(examples, -1)[:-1])
    hook = VariableMonitorLinkHook(predictor.graph_conv.embed, timing="post")
    for calculator_class in (GradientCalculator, IntegratedGradientsCalculator):
        calculator = calculator_class(
            predictor,
            eval_fun=predictor.__call__,
            target_extractor=hook,
            **({"steps": 3} if calculator_class is IntegratedGradientsCalculator else {}),
        )
        result = calculator.compute(
            examples, M=2, batchsize=3, converter=_without_label(concat_mols)
        )
        assert np.isfinite(np.asarray(result[0])).all()


def dataset_tools():
    """Parsers of SMILES and CSV, splitters, NumpyTupleDataset, indexers."""
    import pandas
    from chainer_chemistry.dataset.parsers import CSVFileParser, SmilesParser
    from chainer_chemistry.dataset.preprocessors import AtomicNumberPreprocessor, NFPPreprocessor
    from chainer_chemistry.dataset.splitters import RandomSplitter, StratifiedSplitter
    from chainer_chemistry.datasets import NumpyTupleDataset

    parsed = SmilesParser(NFPPreprocessor()).parse(SMILES, return_smiles=True)
    assert len(parsed["dataset"]) == len(SMILES)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "molecules.csv")
        labels = np.arange(len(SMILES)) % 2
        pandas.DataFrame({"smiles": SMILES, "label": labels}).to_csv(path, index=False)
        parser = CSVFileParser(AtomicNumberPreprocessor(), labels=["label"], smiles_col="smiles")
        dataset = parser.parse(path)["dataset"]
        assert isinstance(dataset, NumpyTupleDataset) and len(dataset) == len(SMILES)
        path = os.path.join(folder, "dataset.npz")
        NumpyTupleDataset.save(path, dataset)
        assert len(NumpyTupleDataset.load(path)) == len(SMILES)
    train_index, valid_index, test_index = RandomSplitter().train_valid_test_split(
        dataset, frac_train=0.5, frac_valid=0.25, frac_test=0.25, return_index=True
    )
    assert len(train_index) + len(valid_index) + len(test_index) == len(SMILES)
    assert StratifiedSplitter is not None
    assert dataset.features[:, 1].shape[0] == len(SMILES)
