import type { DecisionEvent } from '../../events/all.ts'
import type { Recorded } from '../../events/event.ts'
import type { Duty } from '../effects/reactor.ts'

/** Findings of other slices about a run that raise or resolve an alert. */
export type Found =
  | {
      what: 'diagnosis'
      run_id: string
      key: string
      attempt: number | null
      title: string
      text: string
    }
  | { what: 'missing'; run_id: string; key: string; path: string; text: string }
  | { what: 'present'; run_id: string; key: string }

/** Payloads are limited to the text that an alert shows, in characters. */
const maxText = 2000
const cut = (text: string) => Array.from(text).slice(0, maxText).join('')

/** A person who requests a diagnosis waits for it, so only unrequested ones raise an alert. */
export function findingsOf({ type, data }: Recorded<DecisionEvent>): Duty<Found>[] {
  switch (type) {
    case 'diagnosis.completed': {
      const { run_id, diagnosis_id, attempt, trigger, verdict } = data
      if (trigger !== 'auto' || verdict === null) return []
      const told = { title: cut(verdict.title), text: cut(verdict.root_cause) }
      return [
        { payload: { what: 'diagnosis', run_id, key: String(diagnosis_id), attempt, ...told } },
      ]
    }
    case 'artifact.missing': {
      const { run_id, artifact_id, path, reason } = data
      return [
        {
          payload: {
            what: 'missing',
            run_id,
            key: artifact_id,
            path: cut(path),
            text: cut(reason),
          },
        },
      ]
    }
    case 'artifact.verified':
    // An artifact deleted on purpose is no longer missing.
    case 'artifact.deletion_requested':
      return [{ payload: { what: 'present', run_id: data.run_id, key: data.artifact_id } }]
    default:
      return []
  }
}
