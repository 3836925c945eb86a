/** Where names are at home in the cluster. */
export interface PartHomes {
  readonly count: number;
  homeOfQueue(queue: string): number;
  homeOfGate(gate: string): number;
  homeOfStore(store: string): number;
}
