import type { ColumnType } from 'kysely'
import type {
  AnnotationAnswer,
  AnnotationJudge,
  AnnotationKind,
  AnnotationRubric,
  AnnotationSource,
} from '../../schemas/annotations.ts'

type Time = ColumnType<Date, string, string>
type Json<T> = ColumnType<T, string, string>
type NullableJson<T> = ColumnType<T | null, string | null, string | null>

export type AnnotationTables = {
  annotation_queues: {
    queue_id: string
    name: string
    project: string
    owner: string
    kind: AnnotationKind
    state: 'open' | 'closed'
    overlap: number
    source: Json<AnnotationSource>
    rubric: NullableJson<AnnotationRubric>
    instructions: string
    items: number
    /** Items that need no further answer. */
    completed: number
    answers: number
    skips: number
    exports: Json<{ ref: string; rows: number; exported_at: string }[]>
    created_at: Time
    updated_at: Time
  }
  annotation_answers: {
    event_id: string
    queue_id: string
    item: number
    username: string
    what: 'answered' | 'skipped' | 'undone'
    answer: NullableJson<AnnotationAnswer>
    judge: NullableJson<AnnotationJudge>
    sources: string[]
    /** An answer or a skip that was not taken back. */
    is_current: boolean
    at: Time
  }
}
