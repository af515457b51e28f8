import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Static } from 'typebox'
import type { engineRow, queueSwitches } from '../../../../../schemas/queue.ts'
import { Button } from '../../design/button.tsx'
import { TextField } from '../../design/field.tsx'
import { Failure, Shown } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { State } from '../../design/state.tsx'
import { Table } from '../../design/table.tsx'
import { Ago } from '../../design/time.tsx'
import { reading } from '../../session/api.ts'
import { useWords, wordsOf } from '../../words/words.ts'
import { useChange } from './change.ts'
import styles from './page.module.css'

type Switches = Static<typeof queueSwitches>
type Engine = Static<typeof engineRow>

const own = wordsOf({
  by: [(who: string) => `by ${who}`, (who: string) => `由 ${who}`],
  queue: ['Queue', '队列'],
  paused: [
    'The queue is paused: no job starts; running jobs continue.',
    '队列已暂停：不启动新任务，运行中的任务继续。',
  ],
  going: ['Jobs start as GPUs become free.', 'GPU 空闲时任务即启动。'],
  pause: ['Pause the queue', '暂停队列'],
  resume: ['Resume the queue', '恢复队列'],
  reason: ['Reason', '原因'],
  engines: ['Executors and machines', '执行器与机器'],
  engine: ['Name', '名称'],
  state: ['State', '状态'],
  draining: ['draining', '排空中'],
  takes: ['accepts jobs', '接收任务'],
  running: ['Running jobs', '运行中'],
  drain: ['Drain', '排空'],
  undrain: ['Accept jobs', '恢复接收'],
})

const queuePath = '/api/admin/queue'

/** The switches of the queue: for all of it, and for each executor and machine. */
export function Section() {
  const tell = useWords(own)
  const queue = useQuery(reading<Switches>(queuePath))
  return (
    <>
      <Panel title={tell.queue}>
        <Shown of={queue}>{one => <QueueSwitch state={one} />}</Shown>
      </Panel>
      <Panel title={tell.engines}>
        <Shown of={queue}>{({ engines }) => <EngineTable engines={engines} />}</Shown>
      </Panel>
    </>
  )
}

function Changed({ at, by }: { at: string | null; by: string | null }) {
  const tell = useWords(own)
  if (at === null) return null
  return (
    <p className={styles.soft}>
      <Ago at={at} /> {by !== null && tell.by(by)}
    </p>
  )
}

function QueueSwitch({ state }: { state: Switches }) {
  const tell = useWords(own)
  const { error, isBusy, send } = useChange(queuePath, '/api/queue')
  const [reason, setReason] = useState('')
  const flip = () => void send('PUT', queuePath, { paused: !state.paused, reason: reason || null })
  return (
    <div className={styles.form}>
      <p className={state.paused ? styles.warn : undefined} role="status">
        {state.paused ? tell.paused : tell.going} {state.reason}
      </p>
      <Changed at={state.changed_at} by={state.changed_by} />
      <TextField
        label={tell.reason}
        value={reason}
        onChange={event => setReason(event.target.value)}
        maxLength={1000}
      />
      <Failure error={error} />
      <span className={styles.row}>
        <Button busy={isBusy} onClick={flip}>
          {state.paused ? tell.resume : tell.pause}
        </Button>
      </span>
    </div>
  )
}

function EngineTable({ engines }: { engines: readonly Engine[] }) {
  const tell = useWords(own)
  const { error, send } = useChange(queuePath, '/api/queue')
  const flip = ({ engine, draining }: Engine) =>
    void send('PUT', `/api/admin/engines/${encodeURIComponent(engine)}`, { draining: !draining })
  return (
    <>
      <Failure error={error} />
      <Table
        caption={tell.engines}
        rows={engines}
        keyOf={one => one.engine}
        columns={[
          { key: 'engine', title: tell.engine, cell: one => one.engine },
          {
            key: 'state',
            title: tell.state,
            cell: one => (
              <>
                <State
                  state={one.draining ? 'draining' : 'ok'}
                  text={one.draining ? tell.draining : tell.takes}
                />{' '}
                {one.reason}
              </>
            ),
          },
          { key: 'running', title: tell.running, isNumber: true, cell: one => one.running_jobs },
          {
            key: 'flip',
            title: '',
            cell: one => (
              <Button
                kind="quiet"
                aria-label={`${one.draining ? tell.undrain : tell.drain}: ${one.engine}`}
                onClick={() => flip(one)}
              >
                {one.draining ? tell.undrain : tell.drain}
              </Button>
            ),
          },
        ]}
      />
    </>
  )
}
