"""Module of release 7 that programs import; dictionaries of Python 3 keep their order."""

from collections import OrderedDict as OrderedDict
