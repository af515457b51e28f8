/** How a run is kept from everything that is not its own (docs/operate/security.md). */
export type IsolationMode = 'bubblewrap' | 'user' | 'landlock' | 'none'

/** What the command of one attempt may reach; paths are absolute. */
export type Enclosure = {
  mode: Exclude<IsolationMode, 'none'>
  /** The Python that runs `confine.py`. */
  python: string
  /** The user and group that the command becomes, with further groups; null: it stays the server's. */
  identity: { id: number; groups: number[] } | null
  /** What every run may read; missing ones are skipped. */
  system: string[]
  /** Folders and files that are kept out of everything that is readable, but for what is named in them. */
  hidden: string[]
  /** What this run may read besides, also in hidden folders. */
  readable: string[]
  writable: string[]
  devices: string[]
  /** Its temporary files; `/tmp` in a mount namespace. */
  tmp: string
}
