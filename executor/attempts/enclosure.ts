/** How a run is isolated (docs/operate/security.md). */
export type IsolationMode = 'bubblewrap' | 'user' | 'landlock' | 'none'

/** What all processes of one run may have together. */
export type RunLimits = { processes: number; memory_bytes: number }

/** A folder that a run reads or writes, and where it sees it in a mount namespace. */
export type Mount = { path: string; mount_path: string; read_only: boolean }

/** The paths and devices that the command of one attempt may reach; paths are absolute. */
export type Enclosure = {
  mode: Exclude<IsolationMode, 'none'>
  /** The Python that runs `confine.py`. */
  python: string
  /** The user and group that the command becomes, with further groups; null: it stays the server's. */
  identity: { id: number; groups: number[] } | null
  /** What every run may read; missing ones are skipped. */
  system: string[]
  /** Folders and files that are hidden inside readable ones, except for paths that `readable` names. */
  hidden: string[]
  /** Further paths that this run may read, also in hidden folders. */
  readable: string[]
  writable: string[]
  devices: string[]
  /** Folders that also appear elsewhere; their own paths are among `readable` and `writable`. */
  mounts?: readonly Mount[]
  /** Its temporary files; `/tmp` in a mount namespace. */
  tmp: string
  /** Absent in attempts from before there were limits. */
  limits?: RunLimits
}
