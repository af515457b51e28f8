import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { Artifact } from '../../../../../../schemas/artifacts/artifacts.ts'
import type { Model, ModelVersion } from '../../../../../../schemas/models.ts'
import { Dialog } from '../../../design/dialog.tsx'
import { TextField } from '../../../design/field.tsx'
import { FormEnd } from '../../../design/form-end.tsx'
import { reading } from '../../../session/api.ts'
import { ApiFailure } from '../../../session/failure.ts'
import { request } from '../../../session/session.ts'
import { useSubmit } from '../../../session/use-submit.ts'
import { useWords } from '../../../words/words.ts'
import styles from './tab.module.css'
import { words } from './words.ts'

type Props = { artifact: Artifact; project: string; onClose: () => void }

/** Makes an artifact the next version of a model, which is created if the project has none of this name. */
export function RegisterDialog({ artifact, project, onClose }: Props) {
  const say = useWords(words)
  const navigate = useNavigate()
  const models = useQuery(reading<Model[]>('/api/models', { limit: 500 }))
  const { onSubmit, error, isBusy } = useSubmit(async given => {
    const name = String(given.get('model')).trim()
    const { version } = await register(name, project, artifact.artifact_id)
    await navigate({
      to: '/models/$model',
      params: { model: name },
      search: { version: String(version) },
    })
  })
  return (
    <Dialog title={say.registerNamed(artifact.path)} onClose={onClose}>
      <form className={styles.form} onSubmit={onSubmit}>
        <TextField
          label={say.modelName}
          name="model"
          list="models-of-project"
          autoComplete="off"
          maxLength={128}
          required
          autoFocus
        />
        <datalist id="models-of-project">
          {models.data
            ?.filter(one => one.project === project)
            .map(({ model }) => (
              <option key={model} value={model} />
            ))}
        </datalist>
        <p className={styles.soft}>{say.registerHelp(project)}</p>
        <FormEnd error={error} isBusy={isBusy} text={say.register} onCancel={onClose} />
      </form>
    </Dialog>
  )
}

async function register(name: string, project: string, artifact_id: string): Promise<ModelVersion> {
  const path = `/api/models/${encodeURIComponent(name)}`
  const known = await request<Model>('GET', path).catch((error: unknown) => {
    if (error instanceof ApiFailure && error.status === 404) return null
    throw error
  })
  if (known === null) await request('POST', '/api/models', { body: { name, project } })
  return request<ModelVersion>('POST', `${path}/versions`, { body: { artifact_id } })
}
