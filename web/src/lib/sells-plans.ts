let sells = false

/** Whether this service sells plans, as far as its settings have been read. */
export const sellsPlans = (): boolean => sells

export function keepSellsPlans(doesSell: boolean): void {
  sells = doesSell
}
