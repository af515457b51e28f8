import type { Api } from '../../api/client.ts'

/** Storage has a price, and projects of the demonstration have budgets. GPUs keep the prices of their profiles. */
export async function sendBudgets(root: Api, projects: Iterable<string>): Promise<void> {
  await root.put('/api/billing/rates', { gpu: {}, storage_per_gb_month: '0.02' })
  for (const name of projects)
    await root.put(`/api/budgets/project/${name}`, { amount: '500', hold: false })
  await root.put('/api/budgets/user/ada', { amount: '200', hold: true })
}
