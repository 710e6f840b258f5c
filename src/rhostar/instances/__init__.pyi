from ._network import Network as Network
from ._network import Reading as Reading
from ._pool import Pool as Pool
from ._set import Instance as Instance
from ._set import InstanceSet as InstanceSet
from ._snapshot import Snapshot as Snapshot
