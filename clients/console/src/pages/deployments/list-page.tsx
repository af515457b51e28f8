import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { Dialog } from '../../design/dialog.tsx'
import { TextField } from '../../design/field.tsx'
import { FormEnd } from '../../design/form-end.tsx'
import { ListPage } from '../../design/list-page.tsx'
import { Empty } from '../../design/notice.tsx'
import { Num } from '../../design/number.tsx'
import { State } from '../../design/state.tsx'
import { reading } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useSubmit } from '../../session/use-submit.ts'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import type { Deployment } from './paths.ts'
import { words } from './words.ts'

const readingDeployments = reading<Deployment[]>('/api/deployments', { limit: 500 })
export const ahead = () => [readingDeployments]

export function Page() {
  const say = useWords(words)
  const navigate = useNavigate()
  const { new: model, artifact } = useSearch({ strict: false })
  const deployments = useQuery(readingDeployments)
  return (
    <ListPage
      title={say.title}
      of={deployments}
      none={
        <Empty
          text={say.none}
          command="forge deploy create math-tutor --run math-rl-12 --best --template vllm"
        />
      }
      keyOf={one => one.deployment_id}
      columns={[
        {
          key: 'name',
          title: say.name,
          cell: ({ deployment_id, name }) => (
            <Link to="/deployments/$deployment_id" params={{ deployment_id }}>
              {visible(name)}
            </Link>
          ),
        },
        { key: 'state', title: say.state, cell: one => <State state={one.state} /> },
        { key: 'project', title: say.project, cell: one => one.project },
        { key: 'owner', title: say.owner, cell: one => one.owner },
        {
          key: 'engines',
          title: say.engines,
          isNumber: true,
          cell: ({ replicas }) => `${replicas.ready}/${replicas.desired}`,
        },
        {
          key: 'requests',
          title: say.requests,
          isNumber: true,
          cell: one => <Num value={one.traffic_24h.requests} />,
        },
        {
          key: 'errors',
          title: say.errors,
          isNumber: true,
          cell: one => <Num value={one.traffic_24h.errors} />,
        },
        {
          key: 'ttft',
          title: say.ttft,
          isNumber: true,
          cell: one => <Num value={one.traffic_24h.ttft_ms_p50 ?? '–'} />,
        },
        { key: 'cost', title: say.cost, isNumber: true, cell: one => one.cost_24h ?? '–' },
      ]}
    >
      {(model !== undefined || artifact !== undefined) && (
        <Create
          source={
            model === undefined
              ? { kind: 'artifact', artifact_id: String(artifact) }
              : { kind: 'model', model }
          }
          onClose={() => void navigate({ to: '/deployments' })}
        />
      )}
    </ListPage>
  )
}

type Source = { kind: 'model'; model: string } | { kind: 'artifact'; artifact_id: string }

/** A deployment of a version of a model, or of an artifact, in its project. */
function Create({ source, onClose }: { source: Source; onClose: () => void }) {
  const say = useWords(words)
  const navigate = useNavigate()
  const { onSubmit, error, isBusy } = useSubmit(async given => {
    const { deployment_id } = await request<{ deployment_id: string }>('POST', '/api/deployments', {
      body: {
        name: String(given.get('name')).trim(),
        source,
        serving: { template: String(given.get('template')).trim() },
      },
    })
    await navigate({ to: '/deployments/$deployment_id', params: { deployment_id } })
  })
  return (
    <Dialog
      title={say.newTitle(source.kind === 'model' ? source.model : source.artifact_id)}
      onClose={onClose}
    >
      <form className={styles.form} onSubmit={onSubmit}>
        <TextField
          label={say.name}
          name="name"
          defaultValue={source.kind === 'model' ? source.model.replace(/@.*/, '') : ''}
          maxLength={128}
          required
          autoFocus
        />
        <TextField label={say.template} name="template" defaultValue="vllm" required />
        <FormEnd error={error} isBusy={isBusy} text={say.deploy} onCancel={onClose} />
      </form>
    </Dialog>
  )
}
