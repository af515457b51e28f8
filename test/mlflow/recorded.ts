import type { Recorded } from '../../events/event.ts'
import type { MlflowEvent } from '../../events/mlflow.ts'

/** Events about one run, as the log keeps them. */
export const recordedAbout =
  (run_id: string) =>
  (event: MlflowEvent, index: number): Recorded<MlflowEvent> => ({
    ...event,
    event_id: `0190000000007000800000000000000${index}`,
    schema_version: 1,
    stream: `mlflow-${run_id}`,
    stream_version: index + 1,
    occurred_at: '2026-11-20T00:00:00.000Z',
    actor: { type: 'run', id: run_id, via: 'ingest_token' },
    request_id: 'r',
    causation_id: null,
  })
