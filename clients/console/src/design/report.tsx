import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Select } from './field.tsx'
import layout from './layout.module.css'

type Props<Group extends string> = {
  title: string
  to: '/billing' | '/usage'
  /** The label of the groups, and the name of each. */
  say: Readonly<Record<Group | 'by', string>>
  groups: readonly Group[]
  group: Group
  /** Further controls, which change the address. */
  controls: (change: (to: Readonly<Record<string, string | undefined>>) => void) => ReactNode
  children: ReactNode
}

/** A page of figures by group; the group and its other choices are in the address. */
export function Report<Group extends string>(props: Props<Group>) {
  const { title, to, say, groups, group, controls, children } = props
  const navigate = useNavigate()
  const change = (next: Readonly<Record<string, string | undefined>>) =>
    void navigate({ to, search: old => ({ ...old, ...next }), replace: true })
  return (
    <div className={layout.sheet}>
      <h1>{title}</h1>
      <div className={layout.controls}>
        <Select
          label={say.by}
          value={group}
          choices={groups.map(value => ({ value, text: say[value] }))}
          onChange={by => change({ by })}
        />
        {controls(change)}
      </div>
      {children}
    </div>
  )
}
