//! The network thread: it dials, accepts and serves links on one single-threaded runtime, and
//! sleeps when nothing happens.

use std::future::Future;
use std::sync::Arc;
use std::sync::mpsc as blocking;
use std::thread::JoinHandle;
use std::time::Duration;

use consort_protocol::Frame;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::connection::{Carrier, DialError, Refusal};
use crate::framing::now;
use crate::link::{HANDSHAKE_TIMEOUT, serve};
use crate::link_table::LinkTable;
use crate::settings::TransportError;
use crate::{Event, LinkStatistics, Transport};

/// How many incoming connections may be proving their keys at the same time.
const MOST_HANDSHAKES: usize = 16;
/// How long it may take to send the waiting frames of a link that the driver ends.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);
/// Pauses between attempts to dial, doubling from the shortest to the longest.
const SHORTEST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// How long it may take to release ports.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// A running transport of any kind. If dropped without `close`, it ends its links at once.
pub(crate) struct NetworkThread {
    table: Arc<LinkTable>,
    closing: Option<oneshot::Sender<Duration>>,
    thread: Option<JoinHandle<()>>,
}

impl NetworkThread {
    /// Starts the thread named `name`. `open` runs on it and starts to listen; its second result,
    /// such as the address, is returned.
    pub(crate) fn start<C, T, F>(
        name: &str,
        table: LinkTable,
        open: F,
    ) -> Result<(Self, T), TransportError>
    where
        C: Carrier,
        T: Send + 'static,
        F: Future<Output = Result<(C, T), TransportError>> + Send + 'static,
    {
        let table = Arc::new(table);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (closing, close) = oneshot::channel();
        let (opened, opening) = blocking::channel();
        let shared = table.clone();
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            runtime.block_on(async move {
                match open.await {
                    Ok((carrier, result)) => {
                        let _ = opened.send(Ok(result));
                        serve_until_closed(Arc::new(carrier), shared, close).await;
                    }
                    Err(error) => drop(opened.send(Err(error))),
                }
            });
            // Name look-ups may hang in threads of their own; we do not wait for them.
            runtime.shutdown_background();
        })?;
        let result = opening.recv().map_err(std::io::Error::other)??;
        Ok((NetworkThread { table, closing: Some(closing), thread: Some(thread) }, result))
    }

    fn stop(&mut self, timeout: Duration) {
        if let Some(closing) = self.closing.take() {
            let _ = closing.send(timeout);
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Transport for NetworkThread {
    fn has_room(&self, peer: usize) -> bool {
        self.table.slot_of(peer).is_some_and(|slot| slot.has_room())
    }

    fn send(&mut self, peer: usize, frame: Frame) -> bool {
        self.table.slot_of(peer).is_some_and(|slot| slot.send(frame))
    }

    fn wait(&mut self, timeout: Duration) -> Option<Event> {
        self.table.wait(timeout)
    }

    fn disconnect(&mut self, peer: usize, reason: &str) {
        if let Some(slot) = self.table.slot_of(peer) {
            slot.disconnect(self.table.events(), reason, FLUSH_TIMEOUT);
        }
    }

    fn statistics(&self, peer: usize) -> LinkStatistics {
        self.table.slot_of(peer).map(|slot| slot.statistics()).unwrap_or_default()
    }

    fn close(&mut self, timeout: Duration) {
        self.stop(timeout);
    }
}

/// Implements [`Transport`] for a type by its field `network`.
macro_rules! delegate_transport {
    ($transport:ty) => {
        impl Transport for $transport {
            fn has_room(&self, peer: usize) -> bool {
                self.network.has_room(peer)
            }

            fn send(&mut self, peer: usize, frame: Frame) -> bool {
                self.network.send(peer, frame)
            }

            fn wait(&mut self, timeout: Duration) -> Option<Event> {
                self.network.wait(timeout)
            }

            fn disconnect(&mut self, peer: usize, reason: &str) {
                self.network.disconnect(peer, reason);
            }

            fn statistics(&self, peer: usize) -> LinkStatistics {
                self.network.statistics(peer)
            }

            fn close(&mut self, timeout: Duration) {
                self.network.close(timeout);
            }
        }
    };
}
pub(crate) use delegate_transport;

impl Drop for NetworkThread {
    fn drop(&mut self) {
        self.stop(Duration::ZERO);
    }
}

/// Dials and accepts until the driver closes the transport, then ends all links.
async fn serve_until_closed<C: Carrier>(
    carrier: Arc<C>,
    table: Arc<LinkTable>,
    close: oneshot::Receiver<Duration>,
) {
    let mut tasks = JoinSet::new();
    for index in 0..table.slots().len() {
        tasks.spawn(keep_dialling(carrier.clone(), table.clone(), index));
    }
    tasks.spawn(keep_accepting(carrier.clone(), table.clone()));

    let time_left = close.await.unwrap_or_default();
    table.begin_closing(time_left);
    let _ = timeout(time_left, async { while tasks.join_next().await.is_some() {} }).await;
    tasks.shutdown().await;
    let _ = timeout(CLOSE_TIMEOUT, carrier.close()).await;
}

/// Dials the neighbour at `index` whenever there is no link to it.
async fn keep_dialling<C: Carrier>(carrier: Arc<C>, table: Arc<LinkTable>, index: usize) {
    let slot = table.slot(index);
    let mut backoff = Backoff::new(table.own(), slot.peer());
    loop {
        let dial = async {
            sleep(backoff.next()).await;
            let begun = now();
            slot.until_free().await;
            if begun.elapsed() > 2 * LONGEST_PAUSE {
                backoff.reset();
            }
            timeout(HANDSHAKE_TIMEOUT, carrier.dial(index)).await
        };
        let dialled = tokio::select! {
            () = table.closing() => return,
            dialled = dial => dialled,
        };
        match dialled {
            Ok(Ok(connection)) => {
                let (begun, handle) = (now(), connection.handle.clone());
                if let Err(error) = serve(&table, index, connection, None).await
                    && let Some(reason) = handle.refusal(&error)
                {
                    table.refused(Refusal { who: format!("agent {}", slot.peer()), reason });
                }
                if begun.elapsed() > 2 * LONGEST_PAUSE {
                    backoff.reset();
                }
            }
            Ok(Err(DialError::Refused(refusal))) => table.refused(refusal),
            Ok(Err(DialError::Unreachable)) | Err(_) => {}
        }
    }
}

/// Accepts connections, a few at a time, and serves the links they become.
async fn keep_accepting<C: Carrier>(carrier: Arc<C>, table: Arc<LinkTable>) {
    let permits = Arc::new(Semaphore::new(MOST_HANDSHAKES));
    let mut links = JoinSet::new();
    loop {
        let next = async {
            let permit = permits.clone().acquire_owned().await.ok()?;
            Some((permit, carrier.accept().await?))
        };
        let next = tokio::select! {
            () = table.closing() => break,
            next = next => next,
        };
        let Some((permit, incoming)) = next else { break };
        while links.try_join_next().is_some() {}
        links.spawn(authenticate(carrier.clone(), table.clone(), permit, incoming));
    }
    while links.join_next().await.is_some() {}
}

async fn authenticate<C: Carrier>(
    carrier: Arc<C>,
    table: Arc<LinkTable>,
    permit: OwnedSemaphorePermit,
    incoming: C::Incoming,
) {
    let who = C::describe(&incoming);
    match timeout(HANDSHAKE_TIMEOUT, carrier.authenticate(incoming)).await {
        // A neighbour whose connection breaks here will dial again; there is nothing to report.
        Ok(Ok((index, connection))) => {
            let _ = serve(&table, index, connection, Some(permit)).await;
        }
        Ok(Err(refusal)) => table.refused(refusal),
        Err(_) => {
            let reason = format!("it did not prove a key within {} s", HANDSHAKE_TIMEOUT.as_secs());
            table.refused(Refusal { who, reason });
        }
    }
}

/// Pauses between attempts: doubling, and different for every pair of agents, so that the agents
/// of a run do not dial in step.
struct Backoff {
    next: Duration,
    jitter: f64,
}

impl Backoff {
    fn new(own: usize, peer: usize) -> Self {
        // The fractional parts of multiples of the golden ratio are evenly spread.
        let jitter = ((own as f64 * 131.0 + peer as f64) * 0.618_033_988_75).fract();
        Backoff { next: Duration::ZERO, jitter }
    }

    fn reset(&mut self) {
        self.next = Duration::ZERO;
    }

    fn next(&mut self) -> Duration {
        let pause = self.next.mul_f64(1.0 + 0.25 * self.jitter);
        self.next = (2 * self.next).clamp(SHORTEST_PAUSE, LONGEST_PAUSE);
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_limit_and_can_be_reset() {
        let mut backoff = Backoff::new(0, 0);
        let pauses: Vec<u128> = (0..8).map(|_| backoff.next().as_millis()).collect();
        assert_eq!(pauses, [0, 50, 100, 200, 400, 800, 1600, 2000]);
        backoff.reset();
        assert_eq!(backoff.next(), Duration::ZERO);
    }
}
