import type { Page } from 'playwright-core'

/** The rows of the runs in a workspace, without the titles of the columns. */
export const runRows = (page: Page) =>
  page
    .getByRole('table', { name: 'Runs of the project' })
    .getByRole('row')
    .filter({ has: page.getByRole('checkbox') })
