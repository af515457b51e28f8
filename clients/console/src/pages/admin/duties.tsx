import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { DeadLetter } from '../../../../../schemas/dead-letters.ts'
import type { DutyRow } from '../../../../../schemas/duties.ts'
import { Button } from '../../design/button.tsx'
import { Select } from '../../design/field.tsx'
import { Empty, Failure, ShownRows } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { QueryTable } from '../../design/query-table.tsx'
import { State } from '../../design/state.tsx'
import { Table } from '../../design/table.tsx'
import { reading } from '../../session/api.ts'
import { bytesOf } from '../../words/amounts.ts'
import { useWords, wordsOf } from '../../words/words.ts'
import { useChange } from './change.ts'
import styles from './page.module.css'

const own = wordsOf({
  letters: ['Reports that could not be applied', '未能应用的上报'],
  noLetters: ['All reports were applied.', '所有上报均已应用。'],
  duties: ['Duties', '待办职责'],
  noDuties: ['Nothing is waiting.', '没有等待的职责。'],
  letter: ['Record', '记录'],
  run: ['Run', '运行'],
  size: ['Size', '大小'],
  error: ['Error', '错误'],
  replay: ['Apply', '应用'],
  drop: ['Give up', '放弃'],
  duty: ['Duty', '职责'],
  state: ['State', '状态'],
  cause: ['Cause', '起因'],
  due: ['Due', '到期'],
  attempts: ['Attempts', '尝试'],
  retry: ['Try now', '立即重试'],
  open: ['all open', '全部未完成'],
  over: ['It has ended', '已结束'],
})

const lettersPath = '/api/admin/dead-letters'
const dutiesPath = '/api/admin/duties'
const states = ['parked', 'due', 'waiting', 'leased', 'done', 'dropped'] as const

export const Section = () => (
  <>
    <Letters />
    <Duties />
  </>
)

function Letters() {
  const tell = useWords(own)
  const letters = useQuery(reading<DeadLetter[]>(lettersPath, { limit: 200 }))
  const { error, send } = useChange(lettersPath, '/api/admin/projections')
  const at = (id: string) => `${lettersPath}/${encodeURIComponent(id)}`
  return (
    <Panel title={tell.letters}>
      <Failure error={error} />
      <QueryTable
        of={letters}
        none={<Empty text={tell.noLetters} />}
        caption={tell.letters}
        keyOf={one => one.letter_id}
        columns={[
          { key: 'letter', title: tell.letter, cell: one => one.letter_id },
          { key: 'run', title: tell.run, cell: one => one.key },
          {
            key: 'size',
            title: tell.size,
            isNumber: true,
            cell: one => bytesOf(one.bytes),
          },
          {
            key: 'error',
            title: tell.error,
            cell: one => <span className={styles.long}>{one.error}</span>,
          },
          {
            key: 'act',
            title: '',
            cell: one => (
              <span className={styles.row}>
                <Button
                  kind="quiet"
                  aria-label={`${tell.replay}: ${one.letter_id}`}
                  onClick={() => void send('POST', `${at(one.letter_id)}/replay`)}
                >
                  {tell.replay}
                </Button>
                <Button
                  kind="quiet"
                  aria-label={`${tell.drop}: ${one.letter_id}`}
                  onClick={() => void send('DELETE', at(one.letter_id))}
                >
                  {tell.drop}
                </Button>
              </span>
            ),
          },
        ]}
      />
    </Panel>
  )
}

function Duties() {
  const tell = useWords(own)
  const { state = '' } = useSearch({ strict: false })
  const navigate = useNavigate()
  const duties = useQuery(reading<DutyRow[]>(dutiesPath, { state, limit: 200 }))
  const { error, send } = useChange(dutiesPath)
  const choose = (next: string) =>
    void navigate({
      to: '/admin/$section',
      params: { section: 'duties' },
      search: next === '' ? {} : { state: next },
      replace: true,
      resetScroll: false,
    })
  return (
    <Panel title={tell.duties}>
      <div className={styles.filters}>
        <Select
          label={tell.state}
          value={state}
          choices={[
            { value: '', text: tell.open },
            ...states.map(one => ({ value: one, text: one })),
          ]}
          onChange={choose}
        />
      </div>
      <Failure error={error} />
      <ShownRows of={duties} none={<Empty text={tell.noDuties} />}>
        {rows => <DutyTable rows={rows} send={send} />}
      </ShownRows>
    </Panel>
  )
}

type Send = ReturnType<typeof useChange>['send']

function DutyTable({ rows, send }: { rows: readonly DutyRow[]; send: Send }) {
  const tell = useWords(own)
  const at = (id: string) => `${dutiesPath}/${encodeURIComponent(id)}`
  const isOver = ({ state }: DutyRow) => (state === 'done' || state === 'dropped') && tell.over
  return (
    <Table
      caption={tell.duties}
      rows={rows}
      keyOf={one => one.duty_id}
      columns={[
        { key: 'duty', title: tell.duty, cell: one => one.reactor },
        {
          key: 'state',
          title: tell.state,
          cell: one => <State state={one.state} />,
        },
        {
          key: 'cause',
          title: tell.cause,
          cell: one => <span className={styles.long}>{one.cause}</span>,
        },
        { key: 'due', title: tell.due, cell: one => <Due at={one.due_at} /> },
        { key: 'attempts', title: tell.attempts, isNumber: true, cell: one => one.attempts },
        {
          key: 'error',
          title: tell.error,
          cell: one => <span className={styles.long}>{one.last_error}</span>,
        },
        {
          key: 'act',
          title: '',
          cell: one => (
            <span className={styles.row}>
              <Button
                kind="quiet"
                unless={isOver(one)}
                aria-label={`${tell.retry}: ${one.reactor} ${one.duty_id}`}
                onClick={() => void send('POST', `${at(one.duty_id)}/retry`)}
              >
                {tell.retry}
              </Button>
              <Button
                kind="quiet"
                unless={isOver(one)}
                aria-label={`${tell.drop}: ${one.reactor} ${one.duty_id}`}
                onClick={() => void send('DELETE', at(one.duty_id))}
              >
                {tell.drop}
              </Button>
            </span>
          ),
        },
      ]}
    />
  )
}

/** May lie in the future, unlike the times that `Ago` shows. */
const Due = ({ at }: { at: string }) => <time dateTime={at}>{new Date(at).toLocaleString()}</time>
