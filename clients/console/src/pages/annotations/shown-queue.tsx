import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { reading } from '../../session/api.ts'
import { ShownPage } from '../../shell/shown-page.tsx'
import { type Detail, pathOf } from './paths.ts'

/** A page about the queue that the address names. */
export function ShownQueue({ children }: { children: (queue: Detail) => ReactNode }) {
  const { queue_id = '' } = useParams({ strict: false })
  const found = useQuery(reading<Detail>(pathOf(queue_id)))
  return <ShownPage of={found}>{children}</ShownPage>
}
