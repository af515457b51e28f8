import { ApiFailure, Unreachable } from '../../session/failure.ts'
import { Button } from '../button.tsx'
import { Empty, Failure, Loading, Stale } from '../notice.tsx'
import { QueryTable } from '../query-table.tsx'
import styles from './page.module.css'

const refused = new ApiFailure(409, { detail: 'demo/vision already exists' }, '01J0REQUEST')
const columns = [{ key: 'name', title: 'Name', cell: (row: string) => row }]
const refetch = () => {}

/** What stands where content is missing. */
export const Situations = () => (
  <div className={styles.stack}>
    <h3>Empty</h3>
    <Empty text="No models yet. Register one:" command="forge model register run_1 best" />
    <Empty text="Nothing has happened yet.">
      <Button>Do something</Button>
    </Empty>
    <h3>Loading</h3>
    <Loading />
    <h3>Failed</h3>
    <Failure error={refused} onRetry={refetch} />
    <Failure error={new Unreachable(null)} />
    <h3>Stale</h3>
    <Stale>
      <strong>The server does not respond</strong> since 12:03; retrying automatically
    </Stale>
    <h3>A table: filled, empty, loading, failed</h3>
    {[
      { data: ['one', 'two'], error: null },
      { data: [], error: null },
      { data: undefined, error: null },
      { data: undefined, error: refused },
    ].map((of, nth) => (
      <QueryTable
        key={String(nth)}
        of={{ ...of, refetch }}
        none={<Empty text="No rows" />}
        caption={`Table ${nth + 1}`}
        keyOf={row => row}
        columns={columns}
      />
    ))}
  </div>
)
