import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { RubricTested } from '../../../../../schemas/rubrics/judgings.ts'
import { Button } from '../../design/button.tsx'
import { Select, TextField } from '../../design/field.tsx'
import { Failure } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { Table } from '../../design/table.tsx'
import { reading } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useAct } from '../../session/use-act.ts'
import { shortNumber } from '../../words/amounts.ts'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { words } from './words.ts'

type Deployed = { deployment_id: string; name: string; project: string }
/** `draft`: the content of the form, which need not be saved. */
type Props = { path: string; draft: object }

const shownSamples = 5

/** Scores a few samples of a run by what the form holds. Nothing is stored. */
export function Test({ path, draft }: Props) {
  const say = useWords(words)
  const judges = useQuery(reading<Deployed[]>('/api/deployments', { state: 'ready', limit: 500 }))
  const [run_id, setRun] = useState('')
  const [asked, setAsked] = useState<string | null>(null)
  const [tested, setTested] = useState<RubricTested | null>(null)
  const { act, error, isBusy } = useAct()
  const deployed = judges.data ?? []
  const judge = asked ?? deployed[0]?.deployment_id
  const test = () =>
    act(async () => {
      const body = { run_id: run_id.trim(), judge, limit: shownSamples, draft }
      setTested(await request<RubricTested>('POST', `${path}/test`, { body }))
    })
  return (
    <Panel title={say.test}>
      <p className={styles.soft}>{say.testSays(shownSamples)}</p>
      <div className={styles.row}>
        <TextField
          label={say.run}
          value={run_id}
          maxLength={128}
          onChange={event => setRun(event.target.value)}
        />
        {judge !== undefined && (
          <Select
            label={say.judge}
            value={judge}
            choices={deployed.map(one => ({
              value: one.deployment_id,
              text: `${one.project}/${one.name}`,
            }))}
            onChange={setAsked}
          />
        )}
        <Button
          busy={isBusy}
          unless={(judge === undefined && say.noJudge) || (run_id.trim() === '' && say.noRun)}
          onClick={() => void test()}
        >
          {say.test}
        </Button>
      </div>
      <Failure error={error} />
      {tested && (
        <Table
          caption={say.test}
          rows={tested.results}
          keyOf={one => one.sample_id}
          columns={[
            {
              key: 'answer',
              title: say.answer,
              cell: ({ assistant }) => visible((assistant ?? '').slice(0, 200)),
            },
            {
              key: 'score',
              title: say.score,
              isNumber: true,
              cell: ({ score }) => (score === null ? '–' : shortNumber(score, 3)),
            },
            {
              key: 'reason',
              title: say.reason,
              cell: ({ reason, error: fault }) => visible(reason ?? fault ?? ''),
            },
          ]}
        />
      )}
    </Panel>
  )
}
