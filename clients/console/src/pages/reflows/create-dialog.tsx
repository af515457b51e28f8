import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Dialog } from '../../design/dialog.tsx'
import { Field, TextField } from '../../design/field.tsx'
import { FormEnd } from '../../design/form-end.tsx'
import layout from '../../design/layout.module.css'
import { reading, reread } from '../../session/api.ts'
import { request, session } from '../../session/session.ts'
import { useSubmit } from '../../session/use-submit.ts'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import { path } from './paths.ts'
import { words } from './words.ts'

type Deployment = { deployment_id: string; name: string; project: string }

/** Creates a reflow of captured requests; other sources are for the command line. */
export function CreateDialog({ onClose }: { onClose: () => void }) {
  const say = useWords(words)
  const navigate = useNavigate()
  const signedIn = session.get()
  const who = signedIn.state === 'signed-in' ? signedIn.username : ''
  const deployments = useQuery(reading<Deployment[]>('/api/deployments', { limit: 500 }))
  const { onSubmit, error, isBusy } = useSubmit(async given => {
    const text = (name: string) => String(given.get(name) ?? '').trim()
    const body = {
      name: text('name'),
      source: { type: 'traffic', deployment_id: text('deployment_id') },
      filter: text('filter'),
      sample_rate: Number(text('rate')) / 100,
      target_dataset: text('target_dataset'),
    }
    const { reflow_id } = await request<{ reflow_id: string }>('POST', path, { body })
    await reread(path)
    onClose()
    void navigate({ to: '/reflows/$reflow_id', params: { reflow_id } })
  })
  const known = deployments.data ?? []
  return (
    <Dialog title={say.new} onClose={onClose}>
      <form className={layout.form} onSubmit={onSubmit}>
        <TextField label={say.name} name="name" maxLength={128} required autoFocus />
        <Field
          label={say.deployment}
          hint={deployments.data && known.length === 0 && say.noDeployments}
        >
          {given => (
            <select {...given} name="deployment_id" required>
              {known.map(({ deployment_id, name, project }) => (
                <option key={deployment_id} value={deployment_id}>
                  {visible(name)} ({project})
                </option>
              ))}
            </select>
          )}
        </Field>
        <TextField
          label={say.dataset}
          hint={say.datasetHint}
          name="target_dataset"
          required
          pattern="[^\/@]+\/[a-zA-Z0-9][a-zA-Z0-9_.\-]*"
          maxLength={257}
          defaultValue={`${who}/traffic`}
        />
        <TextField label={say.filter} hint={say.filterHint} name="filter" maxLength={1000} />
        <TextField
          label={say.rate}
          name="rate"
          type="number"
          min={0.01}
          max={100}
          step="any"
          defaultValue={100}
          required
        />
        <FormEnd error={error} isBusy={isBusy} text={say.create} onCancel={onClose} />
      </form>
    </Dialog>
  )
}
