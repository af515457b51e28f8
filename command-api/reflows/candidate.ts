import type { DatasetReport } from '../../schemas/datasets/report.ts'

export type RowKind = NonNullable<DatasetReport['kind']>

/** A row that a reflow may take, before anything was decided about it. */
export type Candidate = {
  /** Unique and stable: `request:req_…`, `sample:run_…/…`, `annotation:anq_…/3`. */
  source: string
  kind: RowKind
  /** The fields of the row. */
  row: Record<string, unknown>
  /** Where it comes from, which becomes a field of the row. */
  provenance: Record<string, unknown>
  at: string | null
  /** What filters compare besides texts. */
  words: Readonly<Record<string, string | null>>
  numbers: Readonly<Record<string, number | null>>
  /** The digest under which judges keep a score. */
  sample: string | null
  /** Whose row it is, for erasures. */
  of: { token_id: string; subject: string | null } | null
}

/** `unreadable`: it is no row. `erased`: its person asked for that. */
export type Looked = Candidate | 'unreadable' | 'erased'
