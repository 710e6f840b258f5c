"""Nothing that exists is replaced without --force."""

from pathlib import Path

import pytest

from rhostar.cli._options import refuse_overwrite
from rhostar.errors import InputError


def test_only_files_and_folders_with_content_are_protected(tmp_path: Path) -> None:
    file = tmp_path / "model.npz"
    refuse_overwrite(file, force=False)
    refuse_overwrite(tmp_path, force=False)  # empty
    file.write_text("")
    for path in (file, tmp_path):
        with pytest.raises(InputError, match=r"exists already; give another name, or --force to replace it"):
            refuse_overwrite(path, force=False)
        refuse_overwrite(path, force=True)
    refuse_overwrite(Path("/dev/null"), force=False)
