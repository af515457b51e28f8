import { Dialog } from '../../design/dialog.tsx'
import { TextArea, TextField } from '../../design/field.tsx'
import { FormEnd } from '../../design/form-end.tsx'
import layout from '../../design/layout.module.css'
import { reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useSubmit } from '../../session/use-submit.ts'
import { useWords } from '../../words/words.ts'
import { path } from './paths.ts'
import { words } from './words.ts'

/** Asks for a higher quota until a date. */
export function RequestDialog({ onClose }: { onClose: () => void }) {
  const say = useWords(words)
  const { onSubmit, error, isBusy } = useSubmit(async given => {
    const limit = (name: string) => {
      const text = String(given.get(name) ?? '')
      return text === '' ? {} : { [name]: Number(text) }
    }
    const body = {
      ...limit('max_concurrent_gpus'),
      ...limit('max_concurrent_jobs'),
      until: `${given.get('until')}T00:00:00Z`,
      reason: String(given.get('reason')),
    }
    await request('POST', '/api/quota-requests', { body })
    await reread(path)
    onClose()
  })
  const count = { type: 'number', min: 1, step: 1 } as const
  return (
    <Dialog title={say.request} onClose={onClose}>
      <form className={layout.form} onSubmit={onSubmit}>
        <TextField label={say.wantedGpus} name="max_concurrent_gpus" {...count} autoFocus />
        <TextField label={say.wantedJobs} name="max_concurrent_jobs" {...count} />
        <TextField label={say.until} name="until" type="date" required />
        <TextArea label={say.reason} name="reason" rows={3} maxLength={2000} required />
        <FormEnd error={error} isBusy={isBusy} text={say.send} onCancel={onClose} />
      </form>
    </Dialog>
  )
}
