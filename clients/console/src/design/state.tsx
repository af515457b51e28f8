import { stateText } from '../words/states.ts'
import { useLanguage } from '../words/words.ts'
import { Badge, type Tone } from './badge.tsx'

/** The colours of states: of jobs, runs, datasets, deployments, alerts and checks alike. */
const tones: Readonly<Record<string, Tone>> = {
  running: 'active',
  starting: 'active',
  scheduled: 'active',
  deploying: 'active',
  provisioning: 'active',
  loading: 'active',
  warming: 'active',
  validating: 'active',
  attached: 'active',
  degraded: 'warn',
  draining: 'warn',
  stopping: 'warn',
  pausing: 'warn',
  warning: 'warn',
  deprecated: 'warn',
  succeeded: 'good',
  ready: 'good',
  active: 'good',
  ok: 'good',
  failed: 'bad',
  failing: 'bad',
  abandoned: 'bad',
  missing: 'bad',
  invalid: 'bad',
  critical: 'bad',
  error: 'bad',
  queued: 'wait',
  pending: 'wait',
  held: 'wait',
  paused: 'wait',
  admitted: 'wait',
  building: 'wait',
  suspended: 'wait',
}

/** What a thing is doing, in the reader's language. `text` says it more precisely, as a word or as the API's name of it. */
export function State({ state, text }: { state: string; text?: string }) {
  const language = useLanguage()
  return (
    <Badge tone={tones[state] ?? 'soft'} state={state}>
      {stateText(text ?? state, language)}
    </Badge>
  )
}
