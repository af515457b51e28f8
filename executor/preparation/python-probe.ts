import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'

export type PythonProbe = {
  executable: string
  /** e.g. `3.11.7`. */
  version: string
  /** e.g. `cpython-311-x86_64`; compiled packages depend on it. */
  abi: string
  venv: boolean
  /** Missing on Debian without `python3-venv`; `venv` can then only create environments without pip. */
  ensurepip: boolean
  virtualenv: boolean
  pip: string | null
  /** The prefixes of this Python and of the one behind a virtual environment. */
  prefixes: string[]
}

/** Where its programs and packages are: not the whole prefix, which may be a home directory. */
export const filesOf = ({ executable, prefixes }: PythonProbe): string[] => [
  executable,
  ...prefixes.flatMap(prefix =>
    ['bin', 'lib', 'lib64', 'include', 'pyvenv.cfg'].map(name => path.join(prefix, name)),
  ),
]

const question = `
import sys
sys.path = [folder for folder in sys.path if folder]
import json, platform
from importlib.util import find_spec
def version(name):
    if find_spec(name) is None: return None
    try: return __import__(name).__version__
    except Exception: return None
print(json.dumps({
  "executable": sys.executable, "version": platform.python_version(),
  "abi": sys.implementation.cache_tag + "-" + platform.machine(),
  "venv": find_spec("venv") is not None, "ensurepip": find_spec("ensurepip") is not None,
  "virtualenv": find_spec("virtualenv") is not None, "pip": version("pip"),
  "prefixes": sorted({sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix})}))
`

/** Finds version and capabilities of a Python. The error that it throws names what the operator must install. */
export async function probePython(python: string): Promise<PythonProbe> {
  try {
    const { stdout } = await promisify(execFile)(python, ['-c', question], { timeout: 60_000 })
    return JSON.parse(stdout) as PythonProbe
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(
      `no usable Python: ${why.trim()}. Recipes need Python 3.8 or newer; on Debian: apt-get install python3 python3-venv`,
    )
  }
}
