//! A kernel that takes registers.

/// A kernel that keeps so many numbers at once.
pub fn a_kernel_of_registers(count: u32) -> String {
    let each = |statement: &dyn Fn(u32) -> String| (0..count).map(statement).collect::<String>();
    let loads = each(&|n| format!("ld.volatile.global.u32 %r{n}, [%d+{}];\n", 4 * n));
    let stores = each(&|n| format!("st.volatile.global.u32 [%d+{}], %r{n};\n", 4 * n));
    format!(
        ".entry greedy(.param .u64 p) {{ .reg .u64 %d; .reg .u32 %r<{count}>;\nld.param.u64 %d, [p];\n{loads}{stores}ret; }}"
    )
}
