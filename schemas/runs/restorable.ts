/** How long a deleted run can be restored. */
export const restorableDays = 30
