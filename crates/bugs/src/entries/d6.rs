//! D6: the producer freed, or wrote again, before the consumer had opened or read.
//!
//! What was freed opens no more, and the refusal names the call that freed it. What is freed while another process has it open is
//! undefined from then on: the simulator reports the call that freed and the call that opened. With an acknowledgement in
//! between there is nothing to report.

use peermap_driver::{Call, Device};
use peermap_model::rules;

use crate::expect::{refused, same};
use crate::process::times;
use crate::stage::Stage;
use crate::trouble::Trouble;

pub(crate) fn play(stage: &Stage) -> Result<(), Trouble> {
    let mut random = stage.random();
    let machine = stage.machine()?;
    let producer = machine.process()?;
    producer.context(0)?;
    let mut consumer = machine.peer()?;
    consumer.context(Device(0))??;
    let granule = producer.granule()?;
    let mut undefined = 0;
    for round in 0..12 {
        let size = times(granule, random.u64(1..=4));
        let ptr = producer.mem_alloc(size)?;
        producer.memset_d8(ptr, round, size)?;
        producer.ctx_synchronize()?;
        let handle = producer.ipc_get_mem_handle(ptr)?;
        match random.u8(0..3) {
            0 => {
                producer.mem_free(ptr)?;
                let opened = consumer.open(&handle)?;
                refused("cuIpcOpenMemHandle of what was freed", opened, &rules::LEGACY_5)?.naming(Call::cuMemFree)?;
            }
            // Undefined is nothing that hardware could show.
            1 if !stage.is_real() => {
                let opened = consumer.open(&handle)??;
                producer.mem_free(ptr)?;
                undefined += 1;
                consumer.close(opened)??;
            }
            _ => {
                let opened = consumer.open(&handle)??;
                same("what the consumer reads", consumer.read(opened, 16)??, vec![round; 16])?;
                consumer.close(opened)??;
                producer.mem_free(ptr)?;
            }
        }
        producer.reported(&rules::ALLOC_4, undefined, Call::cuIpcOpenMemHandle)?;
    }
    Ok(())
}
