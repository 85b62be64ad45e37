/**
 * How long a step of an ingestion waits in total while stores or model servers are away. A week: files of an outage that
 * is found after a weekend are still processed.
 */
export const defaultPatienceHours = 168
