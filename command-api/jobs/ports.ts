import type { CatalogueEntry } from '../../recipes/catalogue.ts'

export type JobPorts = {
  catalogue: readonly CatalogueEntry[]
  /** Wakes the executor after a commit. */
  wake: () => void
}
