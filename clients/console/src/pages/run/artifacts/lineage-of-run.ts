import type { Static } from 'typebox'
import type { lineage } from '../../../../../../schemas/runs/lineage.ts'

/** The runs before and after a run, and the checkpoints from which its attempts continued. */
export type LineageOfRun = Static<typeof lineage>
