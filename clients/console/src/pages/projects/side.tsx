import type { RunRow } from '../../../../../schemas/runs/records.ts'
import { Loading } from '../../design/notice.tsx'
import { usePart } from '../../design/use-part.ts'
import { ApiFailure } from '../../session/failure.ts'
import { ColumnChoice } from './column-choice.tsx'
import { sortableOf, textOfColumns } from './columns.ts'
import { GroupChoice } from './group-choice.tsx'
import { hiddenText } from './groups.ts'
import styles from './page.module.css'
import { RunList } from './run-list.tsx'
import { shownText } from './shown.ts'
import { metricOfOrder, type Order, textOfOrder } from './sort.ts'
import { SortChoice } from './sort-choice.tsx'
import type { Groups, useChoice } from './use-choice.ts'

type Props = {
  project: string
  choice: ReturnType<typeof useChoice>
  groups: Groups | null
  found: { data: { rows: RunRow[]; total: number | null } | undefined; error: unknown }
  shown: readonly RunRow[]
  /** The metrics of the shown runs. */
  keys: readonly string[]
  lifted: string | null
  onLift: (id: string | null) => void
}

const loadGroups = () => import('./group-list.tsx')

/** The runs of a project or their groups, to the left of the curves. */
export function Side({ project, choice, groups, found, shown, keys, lifted, onLift }: Props) {
  const { q, order, columns, group, band, hidden, go } = choice
  const sort = (next: Order | null) => go({ sort: next === null ? undefined : textOfOrder(next) })
  const runs = found.data?.rows ?? []
  const list = usePart(groups === null ? null : loadGroups)
  return (
    <RunList
      runs={runs}
      total={found.data ? found.data.total : undefined}
      shown={shown}
      onShow={next => go({ runs: shownText(runs, next) })}
      lifted={lifted}
      onLift={onLift}
      order={order}
      onOrder={sort}
      columns={columns}
      columnChoice={
        <ColumnChoice
          {...{ project, columns, keys }}
          onChange={next => go({ cols: textOfColumns(next) })}
        />
      }
      q={q}
      fault={faultOf(found.error)}
      onSearch={next => go({ q: next || undefined, runs: undefined })}
      choice={
        <div className={styles.grouping}>
          <GroupChoice
            project={project}
            group={group}
            band={band}
            onGroup={next => go({ group: next, off: undefined })}
            onBand={next => go({ band: next === 'minmax' ? undefined : next })}
          />
          <SortChoice keys={keys} columns={sortableOf(columns)} order={order} onOrder={sort} />
        </div>
      }
      groups={
        groups &&
        (list === null ? (
          <Loading />
        ) : (
          <list.GroupList
            project={project}
            group={groups.group}
            asked={{ q: groups.q, runs: groups.runs }}
            metric={metricOfOrder(order) ?? keys[0]}
            hidden={hidden}
            onHide={next => go({ off: hiddenText(next) })}
            lifted={lifted}
            onLift={onLift}
          />
        ))
      }
    />
  )
}

/** The fault in the search, if the server refused it. */
export const faultOf = (error: unknown): string | null =>
  error instanceof ApiFailure && error.status === 422 ? error.message : null
