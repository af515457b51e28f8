import type { ComponentProps, ReactNode } from 'react'
import layout from './layout.module.css'
import { QueryTable } from './query-table.tsx'

type Props<Row> = Omit<ComponentProps<typeof QueryTable<Row>>, 'caption'> & {
  title: string
  /** What people can do here, next to the title. */
  actions?: ReactNode
  /** What the rows are, in a sentence. */
  about?: ReactNode
  /** Dialogs, and what follows the rows. */
  children?: ReactNode
}

/** A page with one table. */
export const ListPage = <Row,>({ title, actions, about, children, ...rows }: Props<Row>) => (
  <div className={layout.sheet}>
    <header className={layout.head}>
      <h1>{title}</h1>
      {actions}
    </header>
    {about && <p className={layout.soft}>{about}</p>}
    <QueryTable caption={title} {...rows} />
    {children}
  </div>
)
