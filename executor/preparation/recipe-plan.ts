import type { Data, Starts } from './fetch-starts.ts'
import type { OpenVolume } from './open-volumes.ts'

/** Input of the launcher; passed in argv, so it holds no secret. Paths are absolute. */
export type RecipePlan = {
  recipe_directory: string
  /** As admitted; files that changed since then are not run. */
  digest: string
  runtime_id: string
  /** Absolute, or relative to the recipe's directory. */
  entrypoint: string
  attempt: number
  /** The archive whose files the run finds in its working folder, and their maximum total size. */
  package: { file: string; sha256: string; limit_bytes: number } | null
  /** The artifacts that must be fetched before the run starts. */
  starts: Starts | null
  /** The datasets, RL environments and the model that the run reads, and the folder in which all runs share them. */
  data: Data | null
  /** The volumes of the run; their folders may be missing before their first use. */
  volumes: readonly OpenVolume[]
  /** Holds the Python environments of all runs. */
  environments_directory: string
  /** Added to PYTHONPATH so that `import forge` works. */
  client_directory: string
  /** Program name or path of the Python that creates environments. */
  python: string
}
