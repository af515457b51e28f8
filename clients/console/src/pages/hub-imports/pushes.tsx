import type { HubPushRow } from '../../../../../schemas/hub-pushes.ts'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { More } from '../../design/more.tsx'
import { Empty, Failure } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { QueryTable } from '../../design/query-table.tsx'
import { State } from '../../design/state.tsx'
import { Ago } from '../../design/time.tsx'
import { useLive, useThrottled } from '../../live/use-live.ts'
import { reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useAct } from '../../session/use-act.ts'
import { usePages } from '../../session/use-pages.ts'
import { bytesOf } from '../../words/amounts.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { words } from './words.ts'

const path = '/api/hub-pushes'
const isUnderWay = ({ state }: HubPushRow) => state === 'requested' || state === 'sending'

/** The artifacts on their way to the hub, with their progress. */
export function Pushes({ isOff }: { isOff: boolean }) {
  const say = useWords(words)
  const found = usePages<HubPushRow>(path, {
    ...{ size: 100, keyOf: one => one.push_id },
  })
  const again = useThrottled(() => reread(path), 500)
  useLive('hub-pushes', { onEvent: again, onGap: again })
  // Earlier ones are shown without a hub, too.
  if (isOff && found.data?.length === 0) return null
  return (
    <Panel title={say.pushes}>
      <QueryTable
        of={found}
        none={<Empty text={say.noPushes} command="forge hub push MODEL@ALIAS ORG/NAME" />}
        caption={say.pushes}
        keyOf={one => one.push_id}
        columns={[
          { key: 'to', title: say.to, cell: one => <Target of={one} /> },
          {
            key: 'what',
            title: say.what,
            cell: one => <code>{one.model ?? one.artifact_id ?? one.run_id}</code>,
          },
          {
            key: 'commit',
            title: say.commit,
            cell: one => <code>{one.commit?.slice(0, 12)}</code>,
          },
          { key: 'state', title: say.state, cell: one => <StateOf of={one} /> },
          { key: 'done', title: say.done, cell: one => <Progress of={one} /> },
          { key: 'by', title: say.by, cell: one => one.owner },
          { key: 'created', title: say.created, cell: one => <Ago at={one.created_at} /> },
          { key: 'acts', title: '', cell: one => isUnderWay(one) && <Stop of={one} /> },
        ]}
      />
      <More of={found} />
    </Panel>
  )
}

const Target = ({ of: { repo, url } }: { of: HubPushRow }) =>
  url === null ? (
    <span className={styles.model}>{repo}</span>
  ) : (
    <a href={url} className={styles.model} target="_blank" rel="noreferrer">
      {repo}
    </a>
  )

function StateOf({ of: { state } }: { of: HubPushRow }) {
  const say = useWords(words)
  if (state === 'failed') return <State state={state} />
  const tone = state === 'sent' ? 'good' : state === 'cancelled' ? 'soft' : 'active'
  return (
    <Badge tone={tone} state={state}>
      {say[state]}
    </Badge>
  )
}

function Progress({ of: { repo, state, bytes, bytes_done, error } }: { of: HubPushRow }) {
  const say = useWords(words)
  if (error !== null) return <span className={styles.error}>{error}</span>
  if (bytes === null) return null
  if (state !== 'sending') return bytesOf(bytes)
  return (
    <span className={styles.progress}>
      <progress aria-label={repo} max={Math.max(bytes, 1)} value={bytes_done} />
      {say.of(bytesOf(bytes_done), bytesOf(bytes))}
    </span>
  )
}

function Stop({ of: { push_id, repo } }: { of: HubPushRow }) {
  const say = useWords(words)
  const { act, error, isBusy } = useAct()
  const stop = async () => {
    await request('DELETE', `${path}/${encodeURIComponent(push_id)}`)
    await reread(path)
  }
  return (
    <>
      <Button
        kind="quiet"
        busy={isBusy}
        aria-label={say.cancelPush(repo)}
        onClick={() => void act(stop)}
      >
        {say.cancel}
      </Button>
      <Failure error={error} />
    </>
  )
}
