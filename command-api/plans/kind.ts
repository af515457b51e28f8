import type { Kind } from '../kind.ts'

export const planKind: Kind = {
  name: 'plan',
  resourceOf(event) {
    if (event.type !== 'plan.created') return null
    const { plan_id, name, owner, project } = event.data
    return { id: plan_id, is: 'there', name, owner, project }
  },
  usesOf: () => [],
}
