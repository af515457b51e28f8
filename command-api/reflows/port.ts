import type { Person } from '../../auth/caller.ts'
import type { RubricContent } from '../../events/rubrics.ts'
import type { Work } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import type { Asking } from '../rules/access.ts'
import type { RowKind } from './candidate.ts'
import type { SampleDigest } from './captured.ts'

/** Who a firing acts for: the owner of the reflow. */
export type Owner = Asking & { via: string }

/** What reflows need of other slices. */
export type ReflowSources = {
  /** The id of a deployment whose captured requests the caller may read; refuses like commands on the deployment. */
  deploymentOf(deps: Deps, caller: Asking, asked: string): Promise<string>
  /** The rows that the export of a queue would have. */
  answersOf(
    deps: Deps,
    caller: Asking,
    queue_id: string,
  ): Promise<{ kind: RowKind; rows: readonly object[] }>
  /** The newest score of each sample, by any judge. */
  scoresOf(
    deps: Pick<Deps, 'pool'>,
    rubric: RubricContent,
    samples: readonly string[],
  ): Promise<ReadonlyMap<string, number>>
  sampleDigest: SampleDigest
}

/** Makes versions of datasets. */
export type VersionMaker = {
  store(
    deps: Deps,
    owner: Owner,
    of: { requestId: string; rows: readonly object[] },
  ): Promise<string>
  locks(dataset: string): string[]
  push(
    work: Work,
    made: {
      dataset: string
      upload_id: string
      kind: RowKind
      parents: string[]
      caller: Asking
    },
  ): Promise<{ ref: string; created: boolean }>
}

/** What came of versions of datasets, as far as the caller may read it; versions that are hidden from them are left out. */
export type Consequences = (
  caller: Person,
  refs: readonly string[],
) => Promise<{ versions: string[]; models: string[]; runs: string[] }>

export type ReflowPorts = {
  reflowSources: ReflowSources
  consequencesOf: Consequences
}
